"""What would have been advised: the usual T, and the best layout of a race on a sweep's seeds."""

from dataclasses import replace

import numpy as np
import pytest
from tests.sweeps.made_up import STEPS, grid_of

from nbyt.stats.prior import load_prior
from nbyt.sweeps.advice import Advised, replayed_race, usual_advice
from nbyt.sweeps.grid import Grid
from nbyt.sweeps.layout_comparison import LayoutComparison
from nbyt.training.costs import Costs

SEEDS = 8


def peaked(grid: Grid, best: int, slope: float = 0.25) -> LayoutComparison:
    """Curves that rise to the higher a level, the nearer T is to `best`."""
    generator = np.random.default_rng(best)
    rise = 1 - np.exp(-np.arange(1, len(grid.points) + 1) / 2)
    returns = []
    for one in grid.layouts:
        level = 1.0 - slope * abs(np.log2(one.steps / best))
        levels = level + 0.1 * generator.normal(size=(len(grid.seeds), 1))
        returns.append(levels * rise)
    splits = tuple((one.envs, one.steps) for one in grid.layouts)
    return LayoutComparison(
        splits, (grid.seeds,) * len(splits), tuple(returns), np.random.default_rng(0)
    )


def without(comparison: LayoutComparison, steps: int, seeds: set[int]) -> LayoutComparison:
    """The same, where some seeds of one layout did not finish."""
    place = [t for _, t in comparison.layouts].index(steps)
    own = comparison.seeds[place]
    kept = [k for k, seed in enumerate(own) if seed not in seeds]
    all_seeds, returns = list(comparison.seeds), list(comparison.returns)
    all_seeds[place] = tuple(own[k] for k in kept)
    returns[place] = returns[place][kept]
    return replace(comparison, seeds=tuple(all_seeds), returns=tuple(returns))


def level_costs(grid: Grid) -> Costs:
    """An update of every layout takes as long."""
    return Costs({(one.envs, one.steps): [0.01] * 3 for one in grid.layouts})


@pytest.fixture(scope="module")
def grid() -> Grid:
    return grid_of(SEEDS)


def raced(grid: Grid, comparison: LayoutComparison) -> Advised | None:
    return replayed_race(grid, comparison, level_costs(grid), 0.0)


def test_the_usual_advice_is_the_constant_of_the_reference_tasks(grid: Grid) -> None:
    known = load_prior().under(STEPS, None, grid.batch)
    advised = usual_advice(grid)
    assert advised.split == (grid.batch // known.constant, known.constant)
    assert advised.losses == {(grid.batch // t, t): known.expected(t) for t in STEPS}
    named = f"{grid.batch // known.constant}x{known.constant}, "
    assert advised.sentence.startswith(named) and "without any training" in advised.sentence


@pytest.mark.parametrize("best", [2, 8, 32])
def test_a_race_names_the_best_layout_that_was_planted(grid: Grid, best: int) -> None:
    advised = raced(grid, peaked(grid, best))
    assert advised is not None
    assert abs(np.log2(advised.split[1] / best)) <= 1
    losses = {steps: loss.value for (_, steps), loss in advised.losses.items()}
    # By how much depends on what quarters promised on the reference tasks.
    assert losses[best] < losses[64 if best < 64 // best else 2]


def test_a_race_sees_quarters_of_trainings_and_nothing_later(grid: Grid) -> None:
    comparison = peaked(grid, 8)
    quarter = sum(point <= grid.points[-1] / 4 for point in grid.points) + 1
    returns = tuple(
        np.hstack([own[:, :quarter], np.zeros_like(own[:, quarter:])]) for own in comparison.returns
    )
    assert raced(grid, replace(comparison, returns=returns)) == raced(grid, comparison)


def test_for_the_same_time_an_update_that_costs_more_is_worth_less(grid: Grid) -> None:
    comparison = peaked(grid, 32, slope=0.05)
    slow = Costs(
        {(n, t): [0.01 * (1 + t)] * 3 for n, t in ((one.envs, one.steps) for one in grid.layouts)}
    )
    same, dear = raced(grid, comparison), replayed_race(grid, comparison, slow, 0.0)
    assert same is not None and dear is not None
    assert dear.split[1] < same.split[1]


def test_an_arm_without_a_seed_is_no_race(grid: Grid) -> None:
    comparison = peaked(grid, 8)
    assert raced(grid, without(comparison, 2, set(grid.seeds))) is None
    assert raced(grid, without(comparison, 1, set(grid.seeds))) is not None  # which is no arm


def test_seeds_are_paired_where_one_is_missing(grid: Grid) -> None:
    """The seeds of a race are the first of the sweep, and none takes the place of a missing one."""
    comparison = peaked(grid, 8)
    seeds = load_prior().under(STEPS, np.ones(len(STEPS)), grid.batch).schedule(4).seeds
    assert 1 < seeds < SEEDS
    later = set(grid.seeds[seeds:])
    assert raced(grid, without(comparison, 8, later)) == raced(grid, comparison)
    fewer = raced(grid, without(comparison, 8, {grid.seeds[0]}))
    assert fewer is not None and f"a race of {4 * seeds - 1} quarter" in fewer.sentence
    assert fewer == raced(grid, without(comparison, 8, {grid.seeds[0], *later}))


def test_where_nothing_learns_the_usual_layout_is_named(grid: Grid) -> None:
    generator = np.random.default_rng(0)
    comparison = peaked(grid, 8)
    noise = tuple(generator.normal(size=own.shape) - 1.0 for own in comparison.returns)
    advised = raced(grid, replace(comparison, returns=noise))
    known = load_prior().under(STEPS, np.ones(len(STEPS)), grid.batch)
    assert advised is not None and advised.split[1] == known.constant


def test_one_layout_cannot_race() -> None:
    grid = grid_of(2, (8,))
    assert raced(grid, peaked(grid, 8)) is None
