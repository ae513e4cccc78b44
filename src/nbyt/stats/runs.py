"""Statistics over the seeds of trainings: what a layout reaches, and which of two is better.

A training has one score, or one at each of several points. Seeds are drawn anew within each
layout, so a layout with few of them stays one with few (a stratified bootstrap).
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int
from scipy import optimize, special
from scipy.stats import rankdata

from nbyt.stats.estimate import LEVEL, Estimate, undetermined

DRAWS = 2000
# With fewer the intervals of an IQM may hold the truth too seldom: benchmarks/sweep/coverage.json.
FEWEST = 8
ONE_SEED = "one seed alone has no interval"
NO_SEED = "no seed is finished"

Scores = Float[np.ndarray, " seeds"]


def iqm(scores: Float[np.ndarray, "... seeds"], axis: int = -1) -> Float[np.ndarray, "..."]:
    """Return the interquartile mean: without the lowest and highest quarter of the seeds."""
    ordered = np.sort(scores, axis=axis)
    count = ordered.shape[axis]
    cut = count // 4
    return np.asarray(np.take(ordered, range(cut, count - cut), axis=axis).mean(axis=axis))


def iqm_estimate(scores: Scores, generator: np.random.Generator) -> Estimate:
    """Return the IQM of one score a seed, with its interval."""
    count = len(scores)
    if not count:
        return undetermined(NO_SEED, 0)
    return interval(float(iqm(scores)), iqm(scores[redrawn(count, generator)]), count)


def redrawn(
    seeds: int, generator: np.random.Generator, draws: int = DRAWS
) -> Int[np.ndarray, "draws seeds"]:
    """Return which seeds each draw takes, with replacement."""
    return generator.integers(0, seeds, (draws, seeds))


def interval(value: float, drawn: Float[np.ndarray, " draws"], seeds: int) -> Estimate:
    """Return the value with the percentile interval of its draws.

    Plain percentiles are too narrow for few seeds, as the normal law would be in the place of
    Student's t. They are taken further out by as much as that would change a mean's interval; with
    many seeds they are the plain ones. Of what was tried this came nearest to 95 %:
    benchmarks/sweep/coverage.json.
    """
    if seeds < 2:
        return Estimate(value, -math.inf, math.inf, seeds, ONE_SEED)
    low, high = np.quantile(drawn, _levels(seeds))
    return Estimate(value, float(low), float(high), seeds, approximate=seeds < FEWEST)


def improvement(
    first: Float[np.ndarray, " seeds"], second: Float[np.ndarray, " others"]
) -> Estimate:
    """Estimate the probability that a training of the first is better than one of the second.

    All pairs of seeds are compared, and ties count half. The interval holds every probability p
    with |p - value| <= z sqrt(V(p)); V is the variance that the share of pairs has where
    differences are as an exponential law makes them (Newcombe 2006, method 5). Draws of seeds
    would not do: where all seeds of one are better than all of the other, no draw differs.
    """
    first, second = np.asarray(first, float), np.asarray(second, float)
    counts = len(first), len(second)
    if not all(counts):
        return undetermined(NO_SEED, min(counts))
    apart = first[:, None] - second[None, :]
    value = float(np.mean((apart > 0) + 0.5 * (apart == 0)))
    if min(counts) < 2:
        return Estimate(value, 0.0, 1.0, min(counts), ONE_SEED, approximate=True)
    low, high = _end(value, *counts), 1.0 - _end(1.0 - value, *counts)
    return Estimate(value, low, high, min(counts))


def _levels(seeds: int) -> tuple[float, float]:
    quantile = float(special.stdtrit(seeds - 1, 0.5 + LEVEL / 2))
    tail = float(special.ndtr(-quantile))
    return tail, 1.0 - tail


def _end(value: float, first: int, second: int) -> float:
    """Return the lower end of a probability's interval; the upper is that of its opposite."""
    if value <= 0:
        return 0.0
    counts = (value, first, second)
    return float(optimize.brentq(_beyond, 0.0, value * (1 - 1e-9), args=counts))


def _beyond(p: float, value: float, first: int, second: int) -> float:
    """Return above 0 where p is too far from the value, given so many seeds of each."""
    z = float(special.ndtri(0.5 + LEVEL / 2))
    mean_count = (first + second) / 2
    spread = 1 + (mean_count - 1) * ((1 - p) / (2 - p) + p / (1 + p))
    return (value - p) ** 2 - z**2 * p * (1 - p) * spread / (first * second)


# Scores are a row of seeds for each layout, of one length or of several. Where scores are not
# certain, a row has them as each draw has them.

# Two halves, and in each at least two seeds to draw from.
FEWEST_TO_COMPARE = 4
TOO_FEW = f"takes {FEWEST_TO_COMPARE} finished seeds or more"

# Rows may have different lengths, so the length has no name.
Row = Float[np.ndarray, "... _"]
Draws = Float[np.ndarray, "draws layouts"]


def losses(scores: Sequence[Row], generator: np.random.Generator, draws: int = DRAWS) -> Draws:
    """Return how far each layout is below the best, in every draw.

    The best layout is chosen with one half of the seeds and all are held against it with the
    other: a layout chosen as the best of the same seeds looks better than it is. Every draw
    takes new halves, and seeds with replacement within them. Below 0 are layouts that do better
    than the chosen one.
    """
    halves = [_halves(row, generator, draws) for row in scores]
    best = np.stack([chosen for chosen, _ in halves], axis=1).argmax(axis=1)
    heights = np.stack([held for _, held in halves], axis=1)
    return np.asarray(heights[np.arange(draws), best][:, None] - heights)


def regrets(scores: Sequence[Row], generator: np.random.Generator) -> tuple[Estimate, ...]:
    """Estimate what each layout loses against the best one, in the unit of the scores.

    The intervals are those of halves of the seeds, so they hold the truth more often than they
    say. Layouts with too few seeds are left out.
    """
    counts = [row.shape[-1] for row in scores]
    enough = [place for place, count in enumerate(counts) if count >= FEWEST_TO_COMPARE]
    found = {place: undetermined(TOO_FEW, count) for place, count in enumerate(counts)}
    if len(enough) > 1:
        drawn = losses([scores[place] for place in enough], generator)
        for place, own in zip(enough, drawn.T, strict=True):
            low, high = np.quantile(own, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            ends = float(own.mean()), float(low), float(high)
            found[place] = Estimate(*ends, counts[place], approximate=True)
    return tuple(found.values())


def behind(
    best: Float[np.ndarray, " seeds"],
    other: Float[np.ndarray, " others"],
    drawn: Float[np.ndarray, " draws"],
) -> Estimate:
    """Estimate how far a layout's IQM is below the leader's; drawn: the same in draws.

    The leader is partly lucky (winner's curse), so the value is too large rather than too small;
    the interval still holds the truth nearly as often as it says.
    """
    seeds = min(len(best), len(other))
    if seeds < FEWEST_TO_COMPARE:
        return undetermined(TOO_FEW, seeds)
    found = interval(float(iqm(best) - iqm(other)), drawn, seeds)
    return replace(found, approximate=True)


def rank_correlation(
    heights: Float[np.ndarray, "*draws layouts"], predicted: Float[np.ndarray, " layouts"]
) -> Float[np.ndarray, "*draws"]:
    """Return Spearman's correlation of predicted and reached scores; nan where all tie."""
    ranks = [rankdata(one, axis=-1) for one in (heights, predicted)]
    apart = [one - one.mean(axis=-1, keepdims=True) for one in ranks]
    sizes = [np.sqrt((one**2).sum(axis=-1)) for one in apart]
    with np.errstate(invalid="ignore"):
        return np.asarray((apart[0] * apart[1]).sum(axis=-1) / (sizes[0] * sizes[1]))


def rank_agreement(
    scores: Sequence[Row],
    predicted: Float[np.ndarray, " layouts"],
    generator: np.random.Generator,
) -> Estimate:
    """Estimate Spearman's correlation of the forecast with the IQMs.

    The forecast is taken as it is; what varies is the seeds.
    """
    fewest = min(map(len, scores), default=0)
    if len(scores) < 3:
        return undetermined("takes 3 layouts or more", fewest)
    value = float(rank_correlation(np.array([iqm(one) for one in scores]), predicted))
    if not np.isfinite(value):
        return undetermined("all layouts tie", fewest)
    rows = [iqm(one[redrawn(len(one), generator)]) for one in scores]
    drawn = rank_correlation(np.stack(rows, axis=1), predicted)
    found = interval(value, drawn[np.isfinite(drawn)], fewest)
    # A rank correlation cannot be above 1, and drawing seeds pulls it down: never a clean 95 %.
    return Estimate(value, found.low, found.high, fewest, found.reason, approximate=True)


def _halves(
    row: Row, generator: np.random.Generator, draws: int
) -> tuple[Float[np.ndarray, " draws"], Float[np.ndarray, " draws"]]:
    """Return a layout's IQM in both halves of its seeds, in every draw."""
    seeds = row.shape[-1]
    order = generator.permuted(np.tile(np.arange(seeds), (draws, 1)), axis=1)
    first, second = order[:, : seeds // 2], order[:, seeds // 2 :]
    return _height(row, first, generator), _height(row, second, generator)


def _height(
    row: Row, half: Int[np.ndarray, "draws some"], generator: np.random.Generator
) -> Float[np.ndarray, " draws"]:
    draws, count = half.shape
    places = np.take_along_axis(half, redrawn(count, generator, draws), axis=1)
    return iqm(row[places] if row.ndim == 1 else np.take_along_axis(row, places, axis=1))
