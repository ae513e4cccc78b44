"""What synchronised starts do to short T: the same trainings with envs that start staggered."""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.validation.cases import Case
from benchmarks.validation.sweeps import WORK
from nbyt.store.atomic import write_json
from nbyt.store.run import slug
from nbyt.sweep.cells import train_job
from nbyt.train import hardware

TASKS = ("FrozenLake8x8-v1", "Pendulum-v1")
STEPS = (1, 2, 4)


def staggered(case: Case) -> dict[str, list[float]] | None:
    """Scores of the shortest T, seed by seed; None for tasks that are not tried."""
    if case.name not in TASKS:
        return None
    path = WORK / f"{slug(case.name)}-staggered.json"
    if path.exists():
        return json.loads(path.read_text())
    grid = case.grid()
    grid = replace(grid, settings=replace(grid.settings, stagger=True))
    found: dict[str, Any] = {}
    for steps in STEPS:
        job = tuple(cell for cell in grid.cells if cell.steps == steps)
        found[str(steps)] = [float(np.mean(one.returns)) for one in train_job(grid, job)]
        hardware.forget_programs()
    write_json(path, found)
    print(
        case.name, "staggered", {t: np.mean(row).round(3) for t, row in found.items()}, flush=True
    )
    return found
