"""What sweeps cost beyond the training itself: in processes and on Ray, and what is sent.

    python -m benchmarks.sweep.scale [--rounds 6]

The trainings are those of an env that waits 2 ms a step, so that workers do not compete for the two
cores: what is seen is the machinery. Ratios are taken within a round.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing.machine import machine
from benchmarks.timing.rounds import median
from nbyt.collect.segment import PoolPlan
from nbyt.envs import resolve
from nbyt.policy.actor_critic import table
from nbyt.store.files import CELL
from nbyt.store.run import Folder
from nbyt.sweeps.cells import Runner, make_jobs
from nbyt.sweeps.cluster import Cluster, ClusterPools
from nbyt.sweeps.grid import Grid, make_grid
from nbyt.sweeps.ray_task import run_task
from nbyt.sweeps.workers import Workers
from nbyt.training import hardware
from nbyt.training.curves import Curve
from nbyt.training.plan import PPOSettings

RESULT = Path(__file__).with_name("scale.json")
ENV = "benchmarks.sweep.waiting:make"
SEEDS = 16
TASKS = 100
MANY = 2000


def main() -> None:
    """Measure seconds, ratios and bytes; write scale.json."""
    parser = argparse.ArgumentParser(prog="benchmarks.sweep.scale", description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    rounds = parser.parse_args().rounds
    began = time.perf_counter()
    with Cluster("auto") as cluster:
        started = time.perf_counter() - began
        hardware.prepare("cpu")
        grid = _grid()
        found: dict[str, Any] = {"machine": machine(), "rounds": rounds}
        found |= {"ray_start_seconds": round(started, 2)}
        parts: dict[str, Callable[[], Any]] = {
            "files": lambda: _write(rounds),
            "task": lambda: _task(grid, cluster, rounds),
            "pool": lambda: _pool(cluster),
            "lane_start_seconds": lambda: _lane_start(rounds),
            "cells": lambda: _cells(grid, cluster, rounds),
        }
        for name, part in parts.items():
            found[name] = part()
            print(name, json.dumps(found[name]), flush=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


def _grid(seeds: int = SEEDS, total: int = 128) -> Grid:
    sizes: dict[str, Any] = {"batch": 64, "layouts": [(4, 16)], "minibatch": 32, "epochs": 1}
    settings = PPOSettings(network="table")
    return make_grid(resolve(ENV), seeds=seeds, total=total, settings=settings, **sizes)


def _lane_start(rounds: int) -> dict[str, Any]:
    """From nothing to the first outcome of a training that fails at once."""
    grid = _grid(1)
    bad = Grid(**{**vars(grid), "env": _Gone(grid.env)})
    return median([_seconds(lambda: _all(Workers(1), bad)) for _ in range(rounds)]).as_dict()


class _Gone:
    """An env that nobody can find again."""

    def __init__(self, env: Any) -> None:
        self._env, self.id = env, "benchmarks.sweep.waiting:gone"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


def _cells(grid: Grid, cluster: Cluster, rounds: int) -> dict[str, Any]:
    """Trainings in a minute, by who does them, and ratios to one lane within a round."""
    runners: dict[str, Runner] = {
        "one_process": Workers(1),
        "two_processes": Workers(2),
        "eight_processes": Workers(8),
        "ray_two_cpus": cluster,
    }
    _all(cluster, grid)  # its workers have their processes from now on, as in a long sweep
    times: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, runner in runners.items():
            times[name].append(_seconds(lambda runner=runner: _all(runner, grid)))
    alone = times["one_process"]
    return {
        "trainings": len(grid.cells),
        "per_minute": {
            name: median([60 * len(grid.cells) / one for one in own]).as_dict()
            for name, own in times.items()
        },
        "ratio_to_one_process": {
            name: median([a / b for a, b in zip(alone, own, strict=True)]).as_dict()
            for name, own in times.items()
        },
    }


def _task(grid: Grid, cluster: Cluster, rounds: int) -> dict[str, Any]:
    """A task in which nothing is trained: its bytes, and its milliseconds alone and among many."""
    job = make_jobs(grid, grid.cells)[0]
    text = cluster._request(grid, job)
    connection, idle = cluster._connection, json.dumps({**json.loads(text), "versions": {}})

    def alone() -> None:
        for _ in range(TASKS):
            connection.result(connection.submit(run_task, idle))

    def together() -> None:
        references = [connection.submit(run_task, idle) for _ in range(TASKS)]
        for reference in references:
            connection.result(reference)

    def watched() -> float:
        """Milliseconds of one look at so many tasks under way, for each of them."""
        references = [connection.submit(run_task, idle) for _ in range(MANY)]
        took = 1000 * _seconds(lambda: connection.ready(references, 0)) / MANY
        for reference in references:
            connection.result(reference)
        return took

    alone()
    milliseconds = {
        name: median([1000 * _seconds(work) / TASKS for _ in range(rounds)]).as_dict()
        for name, work in (("alone", alone), ("together", together))
    }
    return {
        "bytes_sent": len(text),
        "milliseconds": milliseconds,
        "look_milliseconds": median([watched() for _ in range(rounds)]).as_dict(),
        "looked_at": MANY,
    }


def _pool(cluster: Cluster) -> dict[str, Any]:
    """Bytes of a pool's chains that come back, and seconds of collecting them."""
    plan = PoolPlan(16, 128, 0, 0.99, seed=0, envs=16)
    stage = table([[0.0] * 4] * 16, [0.0] * 16)
    collect = ClusterPools(cluster._connection)
    env = _grid(1).env
    seconds = _seconds(lambda: collect(env, stage, plan, lambda done, total: None))
    pool = collect(env, stage, plan, lambda done, total: None)
    size = sum(array.nbytes for array in pool)
    return {
        "chains": plan.chains,
        "steps": plan.steps,
        "seconds": round(seconds, 2),
        "bytes_a_step": size / (plan.chains * plan.steps),
    }


def _write(rounds: int) -> dict[str, Any]:
    """Milliseconds and bytes of keeping a cell (written, flushed, renamed) and of reading it."""
    luck = np.random.default_rng(0)
    curve = Curve(tuple(range(20)), tuple(map(float, luck.normal(size=20))), 0)
    names = [f"4x16-seed-{seed}" for seed in range(TASKS)]
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(Path(place))

        def written() -> None:
            for name in names:
                folder.write(CELL, curve.as_dict(), name)

        def read() -> None:
            for name in names:
                folder.read(CELL, name)

        took = {
            work.__name__: median([1000 * _seconds(work) / TASKS for _ in range(rounds)]).as_dict()
            for work in (written, read)
        }
        size = (folder.path / f"cell-{names[0]}.json").stat().st_size
    row = ",".join(["4", "16", "1000", "done", *map(repr, (0.123456789012345, *curve.returns))])
    answer = json.dumps({"answers": [{"curve": curve.as_dict()}]})
    sizes = {"bytes": size, "answer_bytes": len(answer), "table_bytes": len(row) + 20}
    return {"milliseconds": took, **sizes}


def _all(runner: Runner, grid: Grid) -> None:
    for _ in runner.run(grid, make_jobs(grid, grid.cells), lambda job, updates: None):
        pass


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
