"""The command: train every task with both libraries, and more seeds where they do not agree yet.

    python -m benchmarks.parity.run

It goes through the seeds and within a seed through the tasks, so that it can be stopped at any
time: results that are there are kept, and the same command goes on.
"""

import argparse
import subprocess
import sys
import time
from functools import cache
from importlib import metadata
from pathlib import Path

import nbyt
from benchmarks.parity import results
from benchmarks.parity.compare import Standing, standing
from benchmarks.parity.play import random_returns
from benchmarks.parity.tasks import (
    FIRST_SEEDS,
    LIBRARIES,
    MORE_SEEDS,
    MOST_SEEDS,
    RANDOM_EPISODES,
    TASKS,
    Task,
    seed_of,
)

_PACKAGES = ("nbyt", "jax", "stable-baselines3", "torch", "gymnasium", "mujoco", "numpy")


def main() -> None:
    """Train every seed and write the results to their folder."""
    from nbyt.training import hardware

    hardware.prepare("cpu")
    _versions()
    options = _options()
    tasks = [task for task in TASKS if task.env in options.tasks]
    for task in tasks:
        if results.read_random(task) is None:
            results.save_random(task, random_returns(task.env, RANDOM_EPISODES, seed=0))
    seeds = 0
    while tasks and seeds < options.most:
        more = min(options.seeds if seeds == 0 else MORE_SEEDS, options.most - seeds)
        for number in range(seeds, seeds + more):
            _run_seed(tasks, number)
        seeds += more
        tasks = [task for task in tasks if not _agrees(task)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [task.env for task in TASKS]
    parser.add_argument("--tasks", nargs="+", choices=names, default=names)
    parser.add_argument("--seeds", type=int, default=FIRST_SEEDS, help="seeds of every task")
    parser.add_argument("--most", type=int, default=MOST_SEEDS, help="seeds at most")
    return parser.parse_args()


def _run_seed(tasks: list[Task], number: int) -> None:
    for task in tasks:
        for library in LIBRARIES:
            if results.read(task, library, seed_of(number)) is None:
                _run_one(task, library, seed_of(number))


def _run_one(task: Task, library: str, seed: int) -> None:
    from benchmarks.parity.peers import PEERS  # loads both libraries

    began = time.perf_counter()
    learning = PEERS[library](task, seed)
    results.save(task, library, seed, {**learning._asdict(), "versions": _versions()})
    final = sum(learning.final_returns) / len(learning.final_returns)
    wall_seconds = time.perf_counter() - began
    print(f"{task.env} {library} seed {seed}: {final:.1f} in {wall_seconds:.0f} s", flush=True)


@cache
def _versions() -> dict[str, str]:
    """Versions of all that decides a result; the commit is the last that changed nbyt's package."""
    command = ["git", "log", "-1", "--format=%h", "--", "."]
    package = Path(nbyt.__file__).parent
    commit = subprocess.run(command, cwd=package, capture_output=True, text=True, check=True).stdout
    return {**{name: metadata.version(name) for name in _PACKAGES}, "commit": commit.strip()}


def _agrees(task: Task) -> bool:
    now = standing(task)
    if now is None:
        return False
    print(_line(now), flush=True)
    return now.agrees


def _line(now: Standing) -> str:
    parts = [
        f"{c.metric} {100 * c.difference.value:+.1f} "
        f"[{100 * c.difference.low:+.1f}, {100 * c.difference.high:+.1f}] % "
        f"{'agrees' if c.agrees else 'open'}"
        for c in now.comparisons
    ]
    return f"{now.task.env}, {len(now.seeds)} seeds: " + "; ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
