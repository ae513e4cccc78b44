"""Statistics over the seeds of trainings: what a layout reaches, and which of two is better.

A training has one score, or one at each of several points. Seeds are drawn anew within each
layout, so a layout with few of them stays one with few (a stratified bootstrap).
"""

import math

import numpy as np
from jaxtyping import Float, Int
from scipy import optimize, special

from nbyt.stats.estimate import LEVEL, Estimate, undetermined

DRAWS = 2000
# With fewer the intervals of an IQM may hold the truth too seldom: benchmarks/sweep/coverage.json.
FEWEST = 8
ONE_SEED = "one seed alone has no interval"
NO_SEED = "no seed is finished"

Scores = Float[np.ndarray, " seeds"]


def iqm(scores: Float[np.ndarray, "... seeds"], axis: int = -1) -> Float[np.ndarray, "..."]:
    """The interquartile mean: the mean of the seeds without the lowest and highest quarter."""
    ordered = np.sort(scores, axis=axis)
    count = ordered.shape[axis]
    cut = count // 4
    return np.asarray(np.take(ordered, range(cut, count - cut), axis=axis).mean(axis=axis))


def iqm_estimate(scores: Scores, generator: np.random.Generator) -> Estimate:
    """The IQM of one score a seed, with its interval."""
    count = len(scores)
    if not count:
        return undetermined(NO_SEED, 0)
    return interval(float(iqm(scores)), iqm(scores[redrawn(count, generator)]), count)


def redrawn(
    seeds: int, generator: np.random.Generator, draws: int = DRAWS
) -> Int[np.ndarray, "draws seeds"]:
    """Which seeds each draw takes, with replacement."""
    return generator.integers(0, seeds, (draws, seeds))


def interval(value: float, drawn: Float[np.ndarray, " draws"], seeds: int) -> Estimate:
    """The value with the percentile interval of its draws.

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


def _levels(seeds: int) -> tuple[float, float]:
    quantile = float(special.stdtrit(seeds - 1, 0.5 + LEVEL / 2))
    tail = float(special.ndtr(-quantile))
    return tail, 1.0 - tail


def _end(value: float, first: int, second: int) -> float:
    """The lower end of the interval of a probability; the upper one is that of its opposite."""
    if value <= 0:
        return 0.0
    counts = (value, first, second)
    return float(optimize.brentq(_beyond, 0.0, value * (1 - 1e-9), args=counts))


def _beyond(p: float, value: float, first: int, second: int) -> float:
    """Above 0 where p is too far from the value, given so many seeds of each."""
    z = float(special.ndtri(0.5 + LEVEL / 2))
    mean_count = (first + second) / 2
    spread = 1 + (mean_count - 1) * ((1 - p) / (2 - p) + p / (1 + p))
    return (value - p) ** 2 - z**2 * p * (1 - p) * spread / (first * second)
