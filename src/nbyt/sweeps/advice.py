"""What `nbyt advise` would have said: the usual T, and a race replayed on a sweep's first seeds."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from nbyt.report.numbers import layout_name
from nbyt.results.values import OfLayout
from nbyt.rng import numpy_stream
from nbyt.stats.estimate import Estimate
from nbyt.stats.prior import load_prior
from nbyt.stats.race import FRACTION, has_gained, judge_race, over_budget, promised
from nbyt.sweeps.grid import Grid
from nbyt.sweeps.layout_comparison import LayoutComparison, Split
from nbyt.training.costs import Costs

# Trainings of a race that is not told how many.
_TRAININGS = 4
_MOMENTS = 11


class Advised(NamedTuple):
    """The layout that would have been advised, and what each was expected to lose."""

    split: Split
    sentence: str
    losses: Mapping[Split, Estimate]


def usual_advice(grid: Grid) -> Advised:
    """Return the usual T for the same samples, which needs no training."""
    steps = tuple(sorted(one.steps for one in grid.layouts))
    known = load_prior().under(steps, None, grid.batch)
    losses = {(grid.batch // t, t): known.expected(t) for t in known.steps}
    split = grid.batch // known.constant, known.constant
    sentence = f"{_name(split)}, as on most tasks, without any training."
    return Advised(split, sentence, losses)


def replayed_race(
    grid: Grid, comparison: LayoutComparison, costs: Costs, start: float
) -> Advised | None:
    """Return what a race of quarter trainings would have advised for the same time.

    The quarters are those of the sweep's own first trainings. None where an arm has none.
    """
    steps = tuple(sorted(one.steps for one in grid.layouts))
    splits = [(grid.batch // one, one) for one in steps]
    seconds = np.array([float(one.value or 0.0) for one in costs.seconds(splits)])
    known = load_prior().under(steps, seconds, grid.batch)
    schedule = known.schedule(_TRAININGS)
    octaves = np.log2(np.array(steps, float))
    unit = float(np.exp(np.interp(5.0, octaves, np.log(seconds))))
    budget = FRACTION * unit * grid.points[-1]
    seeds, points = grid.seeds[: schedule.seeds], np.array([0, *grid.points], float)
    gains = np.full((len(schedule.arms), len(seeds)), np.nan)
    for row, arm in zip(gains, schedule.arms, strict=True):
        place = comparison.layouts.index((grid.batch // arm, arm))
        cost = float(seconds[steps.index(arm)])
        for seed, returns in zip(comparison.seeds[place], comparison.returns[place], strict=True):
            if seed in seeds:
                curve = np.array([[start, *returns]])
                moments = over_budget(curve, points, cost, budget, _MOMENTS)
                row[seeds.index(seed)] = promised(moments)[0] - start
    raced = np.isfinite(gains)
    if len(gains) < 2 or not raced.any(axis=1).all():
        return None
    trainings = int(raced.sum())
    judged = judge_race(
        octaves,
        [steps.index(arm) for arm in schedule.arms],
        gains,
        references=known.references,
        trainings=FRACTION * trainings,
        generator=numpy_stream(grid.seeds[0], "sweep.race"),
    )
    usual = (grid.batch // known.constant, known.constant)
    split = splits[judged.best] if has_gained(gains) else usual
    sentence = (
        f"{_name(split)}, by a race of {trainings} quarter trainings, which are the first "
        "quarters of trainings of this sweep."
    )
    losses = {splits[k]: loss for k, loss in zip(judged.places, judged.losses, strict=True)}
    return Advised(split, sentence, losses)


def _name(split: Split) -> str:
    return layout_name(OfLayout(envs=split[0], steps=split[1]))
