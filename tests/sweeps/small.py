"""The sweep of these tests: two layouts, a few seeds, seconds of work."""

import os
from pathlib import Path

from benchmarks.sweep.processes import Family

from nbyt.envs import resolve
from nbyt.sweeps.cells import Outcome, Runner, make_jobs
from nbyt.sweeps.grid import Cell, Grid, make_grid
from nbyt.training.plan import PPOSettings

HOST, DEVICE = "tests.sweeps.traps:make", "tabular:FrozenLake-v1"
LAYOUTS = ((4, 8), (8, 4))
# Steps large enough that the curves of any two seeds differ.
SETTINGS = PPOSettings(network="table", learning_rate=0.3)
FLAGS = "--batch 32 --layouts 4x8,8x4 --total 128 --minibatch 16 --epochs 2 --network table"
FLAGS += " --learning-rate 0.3 --no-advice --quiet"
FAMILY = Family()
ROOT = Path(__file__).parents[2]


def grid_of(env: str, seeds: int, layouts: int = 2) -> Grid:
    """The sweep's grid on an env."""
    sizes = {"batch": 32, "total": 128, "minibatch": 16, "epochs": 2}
    chosen = LAYOUTS[:layouts]
    return make_grid(resolve(env), seeds=seeds, layouts=chosen, settings=SETTINGS, **sizes)


def outcomes(runner: Runner, grid: Grid) -> dict[Cell, Outcome]:
    """What comes of every cell."""
    return dict(runner.run(grid, make_jobs(grid, grid.cells), lambda job, updates: None))


def children() -> dict[int, str]:
    """Processes that this one has started since it first asked, and those that they have."""
    os.environ.update(FAMILY.environment)
    return FAMILY.alive()


def set_traps(folder: Path, *names: str) -> None:
    """Set the traps of these names, and no others."""
    folder.mkdir(exist_ok=True)
    for trap in folder.iterdir():
        trap.unlink()
    for name in names:
        (folder / name).touch()
    os.environ["NBYT_TEST_TRAPS"] = str(folder)
