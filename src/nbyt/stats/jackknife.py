"""Jackknife: intervals from a statistic recomputed without each chain, and without each sketch."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import special

from nbyt.stats.estimate import LEVEL, Estimate
from nbyt.stats.samples import Replicates

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
        """Student's t quantile that bounds the central `level` of the error."""
        return float(special.stdtrit(self.freedom, 0.5 + level / 2))


def deviations(replicates: Replicates, chains: int) -> Deviations:
    """How far each chain, and then each sketch group, pulls the statistic.

    Their squares add to its variance, (n-1)/n Σ (θ_(i) - mean θ_(i))² over chains and the same over
    groups: samples of chains say nothing about the error of the sketch that all of them share.
    """
    parts = (replicates[1 : 1 + chains], replicates[1 + chains :])
    return np.concatenate([_pulls(part) for part in parts])


def spread(pulls: Deviations, chains: int) -> Spread:
    """Variance, skewness and degrees of freedom of a statistic whose chains pull like this.

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
    """How the errors of two statistics of the same chains go together, from -1 to 1."""
    a, b = deviations(first, chains), deviations(second, chains)
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / scale if scale > 0 else 0.0


def bias_corrected(replicates: Replicates, chains: int) -> float:
    """The statistic less its bias of order 1/n: θ - (n-1)(mean θ_(i) - θ), for groups alike."""
    full = replicates[0]
    parts = (replicates[1 : 1 + chains], replicates[1 + chains :])
    return float(full - sum((len(part) - 1) * (part.mean() - full) for part in parts if len(part)))


def is_rough(replicates: Replicates, chains: int) -> bool:
    """Whether an interval is approximate: there are few chains, or few of them decide."""
    return chains < DEPENDABLE or spread(deviations(replicates, chains), chains).freedom < FEW


def student(replicates: Replicates, chains: int, level: float = LEVEL) -> Bounds:
    """Student's t interval on the jackknife variance."""
    shape = spread(deviations(replicates, chains), chains)
    half = shape.quantile(level) * math.sqrt(shape.variance)
    return float(replicates[0]) - half, float(replicates[0]) + half


def skewed(replicates: Replicates, chains: int, level: float = LEVEL) -> Bounds:
    """Student's t interval, corrected for skewness (Hall 1992).

    T + γT²/3 + γ²T³/27 + γ/6 is nearly symmetric when T = (θ̂ - θ)/s is the mean of skewed values,
    γ being the skewness of that mean; the interval is solved for θ.
    """
    shape = spread(deviations(replicates, chains), chains)
    error, bound = math.sqrt(shape.variance), shape.quantile(level)
    ends = (_unskewed(bound, shape.skewness), _unskewed(-bound, shape.skewness))
    return float(replicates[0]) - error * ends[0], float(replicates[0]) - error * ends[1]


def real(replicates: Replicates, chains: int) -> Estimate:
    """A quantity of either sign, made of means: plain scale, corrected for skewness."""
    low, high = skewed(replicates, chains)
    rough = is_rough(replicates, chains)
    return Estimate(float(replicates[0]), low, high, chains, approximate=rough)


def positive(replicates: Replicates, chains: int) -> Estimate:
    """A positive quantity that is nearly a mean: log scale, corrected for skewness."""
    logarithms = _logarithms(replicates)
    return _exponential(replicates, logarithms, skewed(logarithms, chains), chains)


def positive_ratio(replicates: Replicates, chains: int) -> Estimate:
    """A ratio of positive quantities from the same chains: log scale, plain t.

    Hall's correction is for means. In a ratio the curvature of the ratio works against the
    skewness of its parts, and correcting for one alone covers worse than for neither.
    """
    logarithms = _logarithms(replicates)
    return _exponential(replicates, logarithms, student(logarithms, chains), chains)


def _pulls(part: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    if not len(part):
        return part
    return math.sqrt((len(part) - 1) / len(part)) * (part.mean() - part)


def _freedom(unit: Deviations, chains: int) -> float:
    """Degrees of freedom of the whole variance, its two parts pooled after Satterthwaite."""
    by_chain, by_group = unit[:chains], unit[chains:]
    first, second = float(np.sum(by_chain**2)), float(np.sum(by_group**2))
    shares = second**2 / (len(by_group) - 1) if len(by_group) else 0.0
    if first > 0.0:
        normal = (chains + 1) / (chains - 1)
        kurtosis = normal * chains * float(np.sum(by_chain**4)) / first**2
        shares += first**2 / min(chains - 1, 2 * chains / max(kurtosis - 1, 1e-9))
    return (first + second) ** 2 / shares


def _unskewed(value: float, skewness: float) -> float:
    """The T whose corrected form is `value`."""
    if abs(skewness) < 1e-9:
        return value
    return 3 / skewness * (math.cbrt(1 + skewness * (value - skewness / 6)) - 1)


def _logarithms(replicates: Replicates) -> Replicates:
    """Logarithms relative to the full sample, or their linear form if one does not exist."""
    relative = replicates / replicates[0]
    return np.log(relative) if np.all(relative > 0) else relative - 1


def _exponential(
    replicates: Replicates, logarithms: Replicates, bounds: Bounds, chains: int
) -> Estimate:
    value = float(replicates[0])
    rough = is_rough(logarithms, chains) or not bool(np.all(replicates > 0))
    # A huge exponent means that the data bound nothing; math.exp would raise instead.
    ends = [value * math.exp(min(end, 700.0)) for end in bounds]
    return Estimate(value, ends[0], ends[1], chains, approximate=rough)
