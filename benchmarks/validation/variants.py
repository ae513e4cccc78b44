"""Which assumption breaks: the same trainings with one thing about them changed.

The advice measures one gradient of a whole batch, from envs at random phases of their episodes.
Training takes many steps in an update, scales advantages, and starts all envs at a reset.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.validation.cases import Case
from benchmarks.validation.sweeps import WORK
from nbyt.store.atomic import write_json
from nbyt.store.text import slug
from nbyt.sweep.cells import train_job
from nbyt.train import hardware

STAGGERED = "staggered"
CHANGES: dict[str, dict[str, Any]] = {
    STAGGERED: {"stagger": True},
    "one epoch": {"epochs": 1},
    "raw advantages": {"normalise_advantages": "off"},
}
# All is trained with staggered starts, so that the advice can be judged; with other changes, these.
_TASKS = ("FrozenLake8x8-v1", "Acrobot-v1", "Pendulum-v1", "Taxi-v4", "Asterix-MinAtar")
_FEW = (2, 32, 512)


def train_varied(case: Case) -> None:
    """Train with every change."""
    for change, settings in CHANGES.items():
        grid = case.grid(**settings)
        for steps in _lengths(case, change):
            path = _path(case, change, steps)
            if path.exists():
                continue
            job = tuple(cell for cell in grid.cells if cell.steps == steps)
            scores = [float(np.mean(one.returns)) for one in train_job(grid, job)]
            hardware.forget_programs()
            path.parent.mkdir(exist_ok=True)
            write_json(path, scores)
            print(case.name, change, steps, np.mean(scores).round(3), flush=True)


def varied(case: Case) -> dict[str, dict[str, list[float]]]:
    """The scores that are there, seed by seed: by change and T."""
    found = {
        change: {
            str(steps): json.loads(path.read_text())
            for steps in _lengths(case, change)
            if (path := _path(case, change, steps)).exists()
        }
        for change in CHANGES
    }
    return {change: scores for change, scores in found.items() if scores}


def _lengths(case: Case, change: str) -> list[int]:
    every = [layout.steps for layout in case.grid().layouts]
    if change == STAGGERED:
        return every
    return [steps for steps in every if steps in _FEW and case.name in _TASKS]


def _path(case: Case, change: str, steps: int) -> Path:
    return WORK / f"{slug(case.name)}-varied" / f"{change.replace(' ', '-')}-{steps}.json"
