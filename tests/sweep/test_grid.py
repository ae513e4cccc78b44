"""A grid, and what of it is sent to other processes."""

import json
from dataclasses import replace

from msgspec import convert
from tests.sweep.small import DEVICE, grid_of

from nbyt.sweep.grid import GridSpec


def test_a_grid_arrives_as_it_was_sent() -> None:
    grid = grid_of(DEVICE, 3)
    sent = json.loads(json.dumps(GridSpec.from_grid(grid).as_dict()))
    assert convert(sent, GridSpec) == GridSpec.from_grid(grid)
    assert convert(sent, GridSpec).grid(grid.env) == grid


def test_layouts_may_train_for_different_lengths_and_stop_early() -> None:
    grid = replace(grid_of(DEVICE, 1), points=(1, 2, 3, 4), lengths=((4, 2), (16, 3)))
    first, second = grid.cells
    assert grid.points_of(first) == (1, 2) and grid.points_of(second) == (1, 2, 3)
    plan = grid.plan(second)
    # Annealing goes by the whole training, although it stops before its end.
    assert plan.updates == 16 and plan.stages == (1, 2, 3)
    assert convert(GridSpec.from_grid(grid).as_dict(), GridSpec).grid(grid.env) == grid
