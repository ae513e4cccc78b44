"""A grid, and what of it is sent to other processes."""

import json

from msgspec import convert
from tests.sweep.small import DEVICE, grid_of

from nbyt.sweep.grid import GridSpec


def test_a_grid_arrives_as_it_was_sent() -> None:
    grid = grid_of(DEVICE, 3)
    sent = json.loads(json.dumps(GridSpec.from_grid(grid).as_dict()))
    assert convert(sent, GridSpec) == GridSpec.from_grid(grid)
    assert convert(sent, GridSpec).grid(grid.env) == grid
