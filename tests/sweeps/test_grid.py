"""A grid, and what of it is sent to other processes."""

import json
from dataclasses import replace

import pytest
from msgspec import convert
from tests.sweeps.small import DEVICE, HOST, grid_of

from nbyt.collect.evaluate import DEVICE_EPISODES
from nbyt.sweeps.grid import Grid, GridSpec


def parts_of(grid: Grid) -> Grid:
    """The first layout is cut after 5 of 12 updates, the second after 3 of 6."""
    return replace(grid, points=(1, 2, 3, 4, 6, 8), lengths=((12, 5), (6, 3)), episodes=7)


@pytest.mark.parametrize("change", [lambda grid: grid, parts_of], ids=["whole", "parts"])
def test_a_grid_arrives_as_it_was_sent(change) -> None:
    grid = change(grid_of(DEVICE, 3))
    sent = json.loads(json.dumps(GridSpec.from_grid(grid).as_dict()))
    assert convert(sent, GridSpec) == GridSpec.from_grid(grid)
    assert convert(sent, GridSpec).grid(grid.env) == grid


def test_layouts_of_a_sweep_see_the_same_samples() -> None:
    grid = grid_of(DEVICE, 2)
    assert grid.lengths == () and grid.episodes == DEVICE_EPISODES
    for cell in grid.cells:
        plan = grid.plan(cell)
        assert (plan.layout.envs, plan.layout.steps, plan.seed) == cell
        assert plan.updates * plan.layout.batch == grid.total
        assert plan.stages == grid.points_of(cell) == grid.points


def test_parts_of_trainings_stop_after_their_own_last_update() -> None:
    """The plan is of the whole training, whose schedule of the learning rate its part follows."""
    grid = parts_of(grid_of(DEVICE, 2))
    for cell in grid.cells:
        plan = grid.plan(cell)
        whole, last = grid.lengths[0] if cell.envs == 4 else grid.lengths[1]
        assert plan.updates == whole
        assert plan.stages == grid.points_of(cell)
        assert plan.stages == ((1, 2, 3, 4, 5) if last == 5 else (1, 2, 3))


@pytest.mark.parametrize("env", [DEVICE, HOST])
def test_the_identity_of_a_sweep_has_the_keys_that_older_folders_have(env: str) -> None:
    assert set(grid_of(env, 1).identity()) == {
        "command", "env", "layouts", "seeds", "total", "points", "settings",
    }  # fmt: skip
