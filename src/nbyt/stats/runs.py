"""Statistics over the seeds of trainings: what a layout reaches, and which of two is better.

A training has one score, or one at each of several points. Seeds are drawn anew within each
layout, so a layout with few of them stays one with few (a stratified bootstrap).
"""

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int
from scipy import optimize, special
from scipy.stats import trim_mean

from nbyt.stats.estimate import LEVEL, Estimate, undetermined

DRAWS = 2000
# With fewer the intervals of an IQM hold the truth too seldom: benchmarks/sweep/coverage.json.
FEWEST = 8
ONE_SEED = "one seed alone has no interval"
NO_SEED = "no seed is finished"

Scores = Float[np.ndarray, " seeds"]


def iqm(scores: Float[np.ndarray, "... seeds"], axis: int = -1) -> Float[np.ndarray, "..."]:
    """The interquartile mean: the mean of the middle half of the seeds."""
    return np.asarray(trim_mean(scores, 0.25, axis=axis))


def iqm_estimate(scores: Scores, generator: np.random.Generator) -> Estimate:
    """The IQM of one score a seed, with its interval."""
    return iqm_estimates(np.asarray(scores, float)[:, None], generator)[0]


def iqm_estimates(
    scores: Float[np.ndarray, "seeds points"], generator: np.random.Generator
) -> tuple[Estimate, ...]:
    """The IQM at every point; in a draw the seeds are the same at all points."""
    scores = np.asarray(scores, float)
    places = redrawn(len(scores), generator) if len(scores) else np.zeros((0, 0), int)
    drawn = iqm(scores[places], axis=1) if len(scores) else scores
    return tuple(
        interval(_iqm_or_none(scores[:, k]), drawn[:, k], len(scores))
        for k in range(scores.shape[1])
    )


def redrawn(
    seeds: int, generator: np.random.Generator, draws: int = DRAWS
) -> Int[np.ndarray, "draws seeds"]:
    """Which seeds each draw takes, with replacement."""
    return generator.integers(0, seeds, (draws, seeds))


def interval(value: float | None, drawn: Float[np.ndarray, " draws"], seeds: int) -> Estimate:
    """The value with the percentile interval of its draws.

    Plain percentiles are too narrow for few seeds, as the normal law would be in the place of
    Student's t, and by the factor n / (n - 1) of a variance. They are taken further out by as much
    as that would change a mean's interval; with many seeds they are the plain ones.
    """
    if value is None:
        return undetermined(NO_SEED, 0)
    if seeds < 2:
        return Estimate(value, -math.inf, math.inf, seeds, ONE_SEED)
    low, high = np.quantile(drawn, _levels(seeds))
    return Estimate(value, float(low), float(high), seeds, approximate=seeds < FEWEST)


def improvement(first: Scores, second: Scores) -> Estimate:
    """The probability that a training of the first is better than one of the second.

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


def _iqm_or_none(scores: Scores) -> float | None:
    return float(iqm(scores)) if len(scores) else None


def _levels(seeds: int) -> tuple[float, float]:
    quantile = float(special.stdtrit(seeds - 1, 0.5 + LEVEL / 2))
    tail = float(special.ndtr(-quantile * math.sqrt(seeds / (seeds - 1))))
    return tail, 1.0 - tail


def _end(value: float, first: int, second: int) -> float:
    """The lower end of the interval of a probability; the upper one is that of its opposite."""
    z = float(special.ndtri(0.5 + LEVEL / 2))
    mean_count = (first + second) / 2

    def beyond(p: float) -> float:
        spread = 1 + (mean_count - 1) * ((1 - p) / (2 - p) + p / (1 + p))
        return (value - p) ** 2 - z**2 * p * (1 - p) * spread / (first * second)

    return _root(beyond, value)


def _root(function: Callable[[float], float], most: float) -> float:
    """Where a function that is positive at 0 and negative below `most` is 0."""
    if most <= 0:
        return 0.0
    return float(optimize.brentq(function, 0.0, most * (1 - 1e-9)))
