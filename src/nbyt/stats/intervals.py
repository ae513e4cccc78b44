"""Jackknife: intervals from a statistic recomputed without each chain, and without each sketch."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import special

from nbyt.stats.estimate import LEVEL, Estimate

Replicates = Float[np.ndarray, " samples"]


@dataclass(frozen=True)
class Samples:
    """A weight for every chain and every sketch group, sample by sample.

    An average over chains or over pairs of chains becomes an array over the samples, and any
    function of averages becomes the same NumPy expression on such arrays.
    """

    chains: Float[np.ndarray, "samples n"]
    groups: Float[np.ndarray, "samples G"]

    def mean(self, values: Float[np.ndarray, "_ n"]) -> Replicates:
        """Return the mean over chains in every sample: Σ_a w_a v_a / Σ_a w_a."""
        sums = np.asarray(values, float) @ self.chains.T
        return self.over_groups(sums / self.chains.sum(-1))

    def mean_of_pairs(self, gram: Float[np.ndarray, "_ n n"]) -> Replicates:
        """Return the mean over pairs of different chains: Σ_{a≠b} w_a w_b K_ab / Σ_{a≠b} w_a w_b.

        A chain is never paired with itself, nor with its own copy in a redrawn sample. So the
        expectation is the product of the chains' means, however a chain depends on itself.
        A redrawn sample of one chain only has no pair: nan.
        """
        kernel = np.asarray(gram, float).copy()
        chain = np.arange(kernel.shape[-1])
        kernel[:, chain, chain] = 0.0
        sums = np.sum((self.chains @ kernel) * self.chains, axis=-1)
        pairs = self.chains.sum(-1) ** 2 - np.sum(self.chains**2, axis=-1)
        return self.over_groups(sums / np.where(pairs > 0, pairs, np.nan))

    def over_groups(self, values: Float[np.ndarray, "_ samples"]) -> Replicates:
        """Average over sketch groups in every sample; exact products have one group."""
        if len(values) == 1:
            return np.asarray(values[0])
        return np.asarray(np.sum(values.T * self.groups, axis=-1) / self.groups.sum(-1))


def leave_one_out(chains: int, groups: int = 1) -> Samples:
    """Return the full sample, then those without one chain, then those without one group."""
    left_out = np.ones((1 + chains, chains))
    left_out[1:] -= np.eye(chains)
    if groups == 1:
        return Samples(left_out, np.ones((1 + chains, 1)))
    sketches = np.ones((groups, groups)) - np.eye(groups)
    return Samples(
        np.vstack([left_out, np.ones((groups, chains))]),
        np.vstack([np.ones((1 + chains, groups)), sketches]),
    )


def redrawn(chains: int, draws: int, generator: np.random.Generator, groups: int = 1) -> Samples:
    """Return samples of the same size, drawn with replacement from the whole chains (bootstrap).

    Sketch groups are redrawn too, so that the spread over draws holds the error of the sketch.
    """
    return Samples(_multinomial(chains, draws, generator), _multinomial(groups, draws, generator))


def _multinomial(
    count: int, draws: int, generator: np.random.Generator
) -> Float[np.ndarray, "draws count"]:
    return generator.multinomial(count, np.full(count, 1 / count), draws).astype(float)


DEPENDABLE = 64
"""Chains from which on an interval is not called approximate for want of chains."""

FEW = 16.0
"""Degrees of freedom below which a handful of chains decide both a statistic and its error."""

Bounds = tuple[float, float]
Deviations = Float[np.ndarray, " left_out"]


@dataclass(frozen=True)
class Spread:
    """The jackknife's picture of a statistic's error: variance, skewness, degrees of freedom."""

    variance: float
    skewness: float
    freedom: float

    def quantile(self, level: float = LEVEL) -> float:
        """Return Student's t quantile that bounds the central `level` of the error."""
        return float(special.stdtrit(self.freedom, 0.5 + level / 2))


def deviations(replicates: Replicates, chains: int) -> Deviations:
    """Return how far each chain, and then each sketch group, pulls the statistic.

    Their squares add to its variance, (n-1)/n Σ (θ_(i) - mean θ_(i))² over chains and the same over
    groups: samples of chains say nothing about the error of the sketch that all of them share.
    """
    parts = (replicates[1 : 1 + chains], replicates[1 + chains :])
    return np.concatenate([_pulls(part) for part in parts])


def spread(pulls: Deviations, chains: int) -> Spread:
    """Return variance, skewness and degrees of freedom of a statistic whose chains pull like this.

    n-1 degrees of freedom hold for normal pulls. A few chains that pull hard make the variance
    itself uncertain: Var(s²)/s⁴ = (k-1)/n for kurtosis k, which is that of 2n/(k-1) degrees.
    """
    scale = float(np.max(np.abs(pulls)))
    if scale == 0.0:
        return Spread(0.0, 0.0, float(chains - 1))
    unit = pulls / scale
    variance = float(np.sum(unit**2))
    skewness = float(np.sum(unit[:chains] ** 3)) / variance**1.5
    return Spread(variance * scale**2, skewness, _freedom(unit, chains))


def correlation(first: Replicates, second: Replicates, chains: int) -> float:
    """Return how the errors of two statistics of the same chains go together, from -1 to 1."""
    a, b = deviations(first, chains), deviations(second, chains)
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / scale if scale > 0 else 0.0


def bias_corrected(replicates: Replicates, chains: int) -> float:
    """Subtract the bias of order 1/n: θ - (n-1)(mean θ_(i) - θ), for groups alike."""
    full = replicates[0]
    parts = (replicates[1 : 1 + chains], replicates[1 + chains :])
    return float(full - sum((len(part) - 1) * (part.mean() - full) for part in parts if len(part)))


def is_rough(replicates: Replicates, chains: int) -> bool:
    """Return whether an interval is approximate: there are few chains, or few of them decide."""
    return chains < DEPENDABLE or spread(deviations(replicates, chains), chains).freedom < FEW


def student(replicates: Replicates, chains: int, level: float = LEVEL) -> Bounds:
    """Return Student's t interval on the jackknife variance."""
    shape = spread(deviations(replicates, chains), chains)
    half = shape.quantile(level) * math.sqrt(shape.variance)
    return float(replicates[0]) - half, float(replicates[0]) + half


def skewed(replicates: Replicates, chains: int, level: float = LEVEL) -> Bounds:
    """Return Student's t interval, corrected for skewness (Hall 1992).

    T + γT²/3 + γ²T³/27 + γ/6 is nearly symmetric when T = (θ̂ - θ)/s is the mean of skewed values,
    γ being the skewness of that mean; the interval is solved for θ.
    """
    shape = spread(deviations(replicates, chains), chains)
    error, bound = math.sqrt(shape.variance), shape.quantile(level)
    ends = (_unskewed(bound, shape.skewness), _unskewed(-bound, shape.skewness))
    return float(replicates[0]) - error * ends[0], float(replicates[0]) - error * ends[1]


def real(replicates: Replicates, chains: int) -> Estimate:
    """Estimate a quantity of either sign, made of means: plain scale, corrected for skewness."""
    low, high = skewed(replicates, chains)
    rough = is_rough(replicates, chains)
    return Estimate(float(replicates[0]), low, high, chains, approximate=rough)


def positive(replicates: Replicates, chains: int) -> Estimate:
    """Estimate a positive quantity that is nearly a mean: log scale, corrected for skewness."""
    logarithms = _logarithms(replicates)
    return _exponential(replicates, logarithms, skewed(logarithms, chains), chains)


def positive_ratio(replicates: Replicates, chains: int) -> Estimate:
    """Estimate a ratio of positive quantities from the same chains: log scale, plain t.

    Hall's correction is for means. In a ratio the curvature of the ratio works against the
    skewness of its parts, and correcting for one alone covers worse than for neither.
    """
    logarithms = _logarithms(replicates)
    return _exponential(replicates, logarithms, student(logarithms, chains), chains)


def _pulls(part: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    if not len(part):
        return part
    return np.asarray(math.sqrt((len(part) - 1) / len(part)) * (part.mean() - part))


def _freedom(unit: Deviations, chains: int) -> float:
    """Return degrees of freedom of the whole variance, its two parts pooled after Satterthwaite."""
    by_chain, by_group = unit[:chains], unit[chains:]
    first, second = float(np.sum(by_chain**2)), float(np.sum(by_group**2))
    shares = second**2 / (len(by_group) - 1) if len(by_group) else 0.0
    if first > 0.0:
        normal = (chains + 1) / (chains - 1)
        kurtosis = normal * chains * float(np.sum(by_chain**4)) / first**2
        shares += first**2 / min(chains - 1, 2 * chains / max(kurtosis - 1, 1e-9))
    return (first + second) ** 2 / shares


def _unskewed(value: float, skewness: float) -> float:
    """Return the T whose corrected form is `value`."""
    if abs(skewness) < 1e-9:
        return value
    return 3 / skewness * (math.cbrt(1 + skewness * (value - skewness / 6)) - 1)


def _logarithms(replicates: Replicates) -> Replicates:
    """Return logarithms relative to the full sample, or their linear form if one does not exist."""
    relative = replicates / replicates[0]
    return np.asarray(np.log(relative) if np.all(relative > 0) else relative - 1)


def _exponential(
    replicates: Replicates, logarithms: Replicates, bounds: Bounds, chains: int
) -> Estimate:
    value = float(replicates[0])
    rough = is_rough(logarithms, chains) or not bool(np.all(replicates > 0))
    # A huge exponent means that the data bound nothing; math.exp would raise instead.
    ends = [value * math.exp(min(end, 700.0)) for end in bounds]
    return Estimate(value, ends[0], ends[1], chains, approximate=rough)


EVERYTHING: list[Bounds] = [(-math.inf, math.inf)]


def ratio_set(numerator: Replicates, denominator: Replicates, chains: int) -> list[Bounds]:
    """Return all h for which numerator - h denominator is within t errors of 0, in pieces.

    One piece if the denominator is clearly not 0, else two that reach to infinity, or all numbers.
    Both are corrected for their bias of order 1/n, which is as large as the error itself where the
    error has no part of first order: a cosine at 1, the top of its range.
    """
    scale = max(float(np.max(np.abs(numerator))), float(np.max(np.abs(denominator))))
    if scale == 0.0:
        return EVERYTHING
    top, bottom = numerator / scale, denominator / scale
    a, b = bias_corrected(top, chains), bias_corrected(bottom, chains)
    pulls = deviations(top, chains), deviations(bottom, chains)
    # The degrees of freedom are those at h = a/b, written without the division.
    factor = spread(b * pulls[0] - a * pulls[1], chains).quantile() ** 2
    return _at_most_zero(
        b * b - factor * float(pulls[1] @ pulls[1]),
        -2 * (a * b - factor * float(pulls[0] @ pulls[1])),
        a * a - factor * float(pulls[0] @ pulls[0]),
    )


def within(pieces: list[Bounds], least: float, most: float) -> Bounds | None:
    """Return the smallest interval with the set's part in [least, most]; None if empty."""
    cut = [(max(low, least), min(high, most)) for low, high in pieces]
    kept = [piece for piece in cut if piece[0] <= piece[1]]
    if not kept:
        return None
    return min(low for low, _ in kept), max(high for _, high in kept)


def _at_most_zero(square: float, linear: float, constant: float) -> list[Bounds]:
    """Solve square h² + linear h + constant <= 0."""
    if square == 0.0:
        return _half_line(linear, constant)
    inside = linear * linear - 4 * square * constant
    if square < 0 and inside < 0:
        return EVERYTHING
    # With square > 0 the point a/b is always in the set: only rounding can make this negative.
    inside = max(inside, 0.0)
    # The root that adds numbers of one sign first; the other follows without cancellation.
    larger = -(linear + math.copysign(math.sqrt(inside), linear)) / 2
    roots = sorted((larger / square, constant / larger)) if larger else [0.0, 0.0]
    if square > 0:
        return [(roots[0], roots[1])]
    return [(-math.inf, roots[0]), (roots[1], math.inf)]


def _half_line(linear: float, constant: float) -> list[Bounds]:
    if linear == 0.0:
        return EVERYTHING if constant <= 0 else []
    root = -constant / linear
    return [(-math.inf, root)] if linear > 0 else [(root, math.inf)]
