"""What would have been advised beside a sweep: the usual T, and a race of its first quarters."""

import numpy as np
import pytest
from tests.sweep.made_up import costs_of, curves_of, grid_of

from nbyt.prior import load_prior
from nbyt.sweep.advice import replayed_race, usual_advice
from nbyt.sweep.summary import _compare
from nbyt.train.curves import Curve


def test_the_usual_t_is_that_of_the_reference_tasks() -> None:
    grid = grid_of()
    advised = usual_advice(grid)
    steps = tuple(one.steps for one in grid.layouts)
    known = load_prior().under(steps, None, grid.batch)
    assert advised.split == (grid.batch // known.constant, known.constant)
    assert len(advised.losses) == len(grid.layouts)


@pytest.mark.parametrize("best", [2, 32])
def test_a_replayed_race_finds_a_planted_layout(best: int) -> None:
    grid = grid_of()
    samples = tuple(point * grid.batch for point in grid.points)
    generator = np.random.default_rng(0)

    def curve(steps: int) -> Curve:
        top = 1.0 - 0.2 * abs(np.log2(steps / best)) + 0.01 * generator.normal()
        rise = 1 - np.exp(-np.arange(1, len(samples) + 1) / 3)
        return Curve(samples, tuple(map(float, top * rise)), 0)

    curves = {cell: curve(cell.steps) for cell in grid.cells}
    advised = replayed_race(grid, _compare(grid, curves), costs_of(grid, slow=1.0), 0.0)
    assert advised is not None and abs(np.log2(advised.split[1] / best)) <= 1
    assert advised.split in advised.losses


def test_without_a_seed_of_some_arm_nothing_is_raced() -> None:
    grid = grid_of()
    curves = {cell: one for cell, one in curves_of(grid).items() if cell.steps in (1, 64)}
    assert replayed_race(grid, _compare(grid, curves), costs_of(grid), 0.0) is None
