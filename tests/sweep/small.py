"""The sweep of these tests: two layouts, a few seeds, seconds of work."""

import os
from pathlib import Path

from nbyt.envs import resolve
from nbyt.sweep.grid import Grid, make_grid
from nbyt.train.settings import PPOSettings

HOST, DEVICE = "tests.sweep.traps:make", "tabular:FrozenLake-v1"
LAYOUTS = ((4, 8), (8, 4))
# Steps large enough that the curves of any two seeds differ.
SETTINGS = PPOSettings(network="table", learning_rate=0.3)
FLAGS = "--batch 32 --layouts 4x8,8x4 --total 128 --minibatch 16 --epochs 2 --network table"
FLAGS += " --learning-rate 0.3 --no-advice --quiet"
ROOT = Path(__file__).parents[2]


def grid_of(env: str, seeds: int) -> Grid:
    """The sweep's grid on an env."""
    sizes = {"batch": 32, "layouts": LAYOUTS, "total": 128, "minibatch": 16, "epochs": 2}
    return make_grid(resolve(env), seeds=seeds, settings=SETTINGS, **sizes)


def set_traps(folder: Path, *names: str) -> None:
    """Nothing; traps of these names then wait, and nothing but these."""
    folder.mkdir(exist_ok=True)
    for trap in folder.iterdir():
        trap.unlink()
    for name in names:
        (folder / name).touch()
    os.environ["NBYT_TEST_TRAPS"] = str(folder)
