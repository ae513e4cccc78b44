"""Train the cells: every T of every task and batch, with curves; it resumes.

A cell is an env, a batch size, and whether the envs start staggered. Seeds of one layout are
trained in blocks, each kept in the work folder as soon as it is done and then gathered into
cells.csv. What cells.csv holds is not trained again.
"""

import csv
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.proving.data import Cell
from benchmarks.proving.replay import Ground
from benchmarks.proving.tasks import EPOCHS, MINIBATCH, POINTS, TASKS, Task
from nbyt.collect.device import mesh_for, spread
from nbyt.collect.evaluate import episode_returns, play_seeds
from nbyt.envs import HostEnv, resolve
from nbyt.errors import NbytError
from nbyt.layout import Layout, nearest_divisors
from nbyt.store.atomic import write_text
from nbyt.store.text import slug
from nbyt.training.algorithms.ppo import initial_learner
from nbyt.training.curves import Curve, train_curve, train_seeds
from nbyt.training.plan import PPOPlan, PPOSettings

# Many seeds in one program cost hardly more than a few: seven times as many, twice the time.
BLOCK = 128
_ROUNDED_TO = 16
# Episodes at every point: the mean over a curve is then far better known than by its seeds.
EPISODES = 16
CELLS = Path(__file__).with_name("cells.csv")
WORK = Path(__file__).parents[2] / "runs" / "proving"
_MOST_SEEDS = 512
_QUICK = ("Catch-bsuite", "CliffWalking-v1", "FrozenLake-v1")


class Block(NamedTuple):
    """Seeds of one layout that are trained together."""

    task: Task
    batch: int
    stagger: bool
    steps: int
    first: int
    count: int

    @property
    def seeds(self) -> range:
        """The seeds that are trained."""
        return range(self.first, self.first + self.count)

    @property
    def file(self) -> str:
        """Its file in the work folder."""
        start = "staggered" if self.stagger else "together"
        cell = f"{slug(self.task.name)}-{self.batch}-{start}"
        return f"{cell}/T{self.steps}-seeds-{self.first}-{self.count}.json"


def blocks(
    tasks: Iterable[Task], batch: int, seeds: range, *, stagger: bool = False
) -> Iterator[Block]:
    """Every block of a batch size for these seeds."""
    for task in tasks:
        if batch not in task.batches:
            continue
        for steps in task.steps(batch):
            for first in range(seeds.start, seeds.stop, BLOCK):
                yield Block(task, batch, stagger, steps, first, min(BLOCK, seeds.stop - first))


# In order of worth: every batch size, envs started together and staggered.
_ROUNDS = ((2048, False), (8192, False), (512, False), (2048, True))


def first_blocks() -> Iterator[Block]:
    """What is trained at first, in order of worth; tasks that take long come last."""
    for slow in (False, True):
        for batch, stagger in _ROUNDS:
            for task in TASKS:
                if (task.batches != (2048,)) is not slow:
                    yield from blocks([task], batch, range(task.seeds), stagger=stagger)


def more_blocks(cells: Iterable[Cell]) -> Iterator[Block]:
    """More seeds at B = 2,048 where losses are not known well enough."""
    tasks = {task.env: task for task in TASKS}
    for cell in cells:
        if cell.batch == 2048 and not cell.stagger:
            seeds = range(len(cell.seeds), seeds_wanted(cell))
            yield from blocks([tasks[cell.env]], 2048, seeds)


def seeds_wanted(cell: Cell) -> int:
    """How many seeds bring the mean standard error of a T's loss down to what the task asks for.

    Told from the seeds that there are, at equal samples; nothing here depends on which T is best.
    """
    task, known = next(task for task in TASKS if task.env == cell.env), len(cell.seeds)
    error = Ground(cell, "samples").standard_error(range(known))
    if error <= task.precision:
        return known
    count = math.ceil(known * (error / task.precision) ** 2 / _ROUNDED_TO)
    return min(_MOST_SEEDS, _ROUNDED_TO * count)


def quick_blocks() -> Iterator[Block]:
    """Two small cells, for a first look."""
    few = [replace(task, total=40_960) for task in TASKS if task.name in _QUICK]
    yield from blocks(few, 2048, range(16))


def train(block: Block, work: Path = WORK) -> None:
    """Train a block, unless it is there."""
    file = work / block.file
    if file.exists():
        return
    rows = rows_of(block)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(rows))


def rows_of(block: Block) -> list[dict[str, Any]]:
    """Train the seeds of a block, and return a row for each."""
    task, env = block.task, resolve(block.task.env)
    minibatch = nearest_divisors(block.batch, MINIBATCH)[0]
    layout = Layout(block.batch // block.steps, block.steps, minibatch, EPOCHS)
    settings = PPOSettings(**task.settings, stagger=block.stagger)
    every = task.total / block.batch / POINTS
    points = POINTS * task.trained(block.steps) // task.total
    stages = tuple(max(1, round(every * place)) for place in range(1, points + 1))
    total = stages[-1] * block.batch
    plans = [PPOPlan(env.id, layout, total, seed, settings, stages) for seed in block.seeds]
    if isinstance(env, HostEnv):
        curves: list[Curve | NbytError] = [train_curve(plan, env) for plan in plans]
    else:
        curves = train_seeds(plans, env, episodes=EPISODES)
    untrained = _untrained(plans, env)
    return [
        {
            "env": task.env,
            "batch": block.batch,
            "stagger": int(block.stagger),
            "total": task.total,
            "envs": layout.envs,
            "steps": layout.steps,
            "seed": plan.seed,
            "samples": list(curve.samples),
            "returns": [start, *curve.returns],
            "training": list(curve.training),
        }
        for plan, curve, start in zip(plans, curves, untrained, strict=True)
        if isinstance(curve, Curve)
    ]


def _untrained(plans: list[PPOPlan], env: Any) -> list[float]:
    """The mean return of the policy that each training begins with."""
    learners = [initial_learner(plan, env) for plan in plans]
    policy = learners[0][0]
    if isinstance(env, HostEnv):
        played = [
            episode_returns(env, policy, one.params, plan.seed)
            for (_, one), plan in zip(learners, plans, strict=True)
        ]
    else:
        mesh = mesh_for(len(plans))
        params = spread([one.params for _, one in learners], mesh)
        seeds = [plan.seed for plan in plans]
        played = play_seeds(env, policy, seeds, mesh, episodes=EPISODES)(params).evaluations()
    return [float(one.returns.mean()) for one in played[: len(plans)]]


COLUMNS = ("env", "batch", "stagger", "total", "envs", "steps", "seed")


def gather(work: Path = WORK, cells: Path = CELLS) -> int:
    """Put what the work folder holds into cells.csv, as far as no T is missing; count its rows."""
    rows: dict[tuple[str, ...], list[str]] = {}
    if cells.exists():
        with cells.open(newline="") as kept:
            rows = {tuple(row[: len(COLUMNS)]): row for row in list(csv.reader(kept))[1:]}
    for file in sorted(work.glob("*/*.json")):
        for row in json.loads(file.read_text()):
            key = tuple(str(row[name]) for name in COLUMNS)
            rows[key] = [*key, *_numbers(row)]
    head = [*COLUMNS, *(f"return_{k}" for k in range(2 * POINTS + 1))]
    head += [f"training_{k}" for k in range(1, POINTS + 1)]
    ordered = sorted(_whole(rows.values()), key=_order)
    text = "".join(",".join(row) + "\n" for row in [head, *ordered])
    write_text(cells, text)
    return len(ordered)


def _whole(rows: Iterable[list[str]]) -> list[list[str]]:
    """The rows of seeds that every T was trained with; the others wait in the work folder."""
    tasks = {task.env: task for task in TASKS}
    seen: dict[tuple[str, ...], list[list[str]]] = {}
    for row in rows:
        env, batch, stagger, _, _, _, seed = row[: len(COLUMNS)]
        seen.setdefault((env, batch, stagger, seed), []).append(row)
    return [
        row
        for (env, batch, _, _), own in seen.items()
        if len(own) == len(tasks[env].steps(int(batch)))
        for row in own
    ]


def _order(row: list[str]) -> tuple[Any, ...]:
    return (row[0], *(int(word) for word in row[1 : len(COLUMNS)]))


def _numbers(row: dict[str, Any]) -> list[str]:
    returns = np.full(2 * POINTS + 1, np.nan)
    returns[: len(row["returns"])] = row["returns"]
    training = np.full(POINTS, np.nan)
    known = np.array(row["training"][:POINTS], float)
    training[: len(known)] = known
    return [_short(one) for one in [*returns, *training]]


def _short(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.4g}"
