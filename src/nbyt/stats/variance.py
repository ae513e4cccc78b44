"""Variance of a batch gradient and its two parts, and the squared length of a mean gradient.

The parts are each step's own variance, and the steps' covariance. Squared lengths, of the bias
among others, come from the inner products of independent vectors.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special

from nbyt.stats.estimate import LEVEL, Estimate, mapped, undetermined
from nbyt.stats.intervals import (
    DEPENDABLE,
    Bounds,
    Replicates,
    Samples,
    leave_one_out,
    positive,
    positive_ratio,
    real,
)
from nbyt.stats.products import PoolMoments, Products, step_variance

LEAST = 4
"""Vectors that tr(S²) needs at least: two to multiply, and two others to centre them by."""

FEW_DIRECTIONS = 4
"""Below this many directions of spread a squared length needs twice the chains to be dependable."""

CARRIERS = 16.0
"""Vectors that must share the spread: of fewer, the law of their mean is far from normal."""

LARGE = 1e6
"""From here on the noncentral chi-square law is normal to six digits, and SciPy's grows slow."""


def squared_length(gram: Float[np.ndarray, "G n n"]) -> Estimate:
    """Estimate |E D|² from the Gram matrix of independent D_n; its sign is kept.

    U = mean over n≠m of <D_n, D_m> is unbiased. With S = Cov D, nU has mean n|E D|² and variance
    2 tr(S²) + 4n |E D|² s, s being the variance along E D. So has s(χ'²_ν(n|E D|²/s) - ν) with
    ν = tr(S²)/s², a shifted noncentral chi-square law, exact for a round normal law. The interval
    inverts it, and goes on below 0 at the width that it has at 0: the truth is never there, but an
    interval that stopped at 0 would hold a true 0 in 97.5 % of cases.
    """
    chains = gram.shape[-1]
    gram = np.asarray(gram, float)
    by_group = (gram.sum((1, 2)) - np.trace(gram, axis1=1, axis2=2)) / (chains * (chains - 1))
    value = float(by_group.mean())
    low, high = _bounds(gram, value)
    if len(gram) > 1:
        wide = _error_of_sketch(by_group)
        low, high = value - math.hypot(value - low, wide), value + math.hypot(high - value, wide)
    if not math.isfinite(low):
        return Estimate(value, low, high, chains, "three chains do not show their own spread", True)
    needed = DEPENDABLE if dimension(gram) >= FEW_DIRECTIONS else 2 * DEPENDABLE
    # Not clear of 0, its error has no part of first order: intervals are up to 99 % wide.
    rough = chains < needed or low <= 0 or _carriers(gram) < CARRIERS
    return Estimate(value, low, high, chains, approximate=rough)


def dimension(gram: Float[np.ndarray, "G n n"]) -> float:
    """Return in how many directions the vectors spread, tr(S)² / tr(S²); infinite if none."""
    if gram.shape[-1] < LEAST:
        return 0.0
    trace, trace_of_square = _traces(np.asarray(gram, float))
    return trace**2 / trace_of_square if trace > 0 else math.inf


def _carriers(gram: Float[np.ndarray, "G n n"]) -> float:
    """Return how many vectors are long: (Σ |D_n|²)² / Σ |D_n|⁴, all of them if they are alike."""
    square = np.diagonal(gram.mean(0))
    total = float(np.sum(square**2))
    return float(square.sum()) ** 2 / total if total > 0 else math.inf


def _error_of_sketch(by_group: Float[np.ndarray, " G"]) -> float:
    """Return half the width of the t interval of a mean over groups."""
    quantile = float(special.stdtrit(len(by_group) - 1, 0.5 + LEVEL / 2))
    return quantile * float(by_group.std(ddof=1)) / math.sqrt(len(by_group))


def _bounds(gram: Float[np.ndarray, "G n n"], value: float) -> Bounds:
    chains = gram.shape[-1]
    if chains < LEAST:
        return -math.inf, math.inf
    trace, trace_of_square = _traces(gram)
    if trace <= 0.0:
        return value, value
    along = _variance_along(gram, value, trace, trace_of_square)
    freedom = trace_of_square / along**2
    found = chains * value / along + freedom
    # A normal tail as heavy as Student's: the variances come from the same n chains.
    tail = float(special.ndtr(-special.stdtrit(chains - 1, 0.5 + LEVEL / 2)))
    low, high = (along / chains * _noncentrality(found, freedom, p) for p in (1 - tail, tail))
    return min(low, value), max(high, value)


def _traces(gram: Float[np.ndarray, "G n n"]) -> tuple[float, float]:
    """Return tr(S) and tr(S²), both without bias.

    tr(S²) is the mean squared product of different vectors, centred by means that leave both out
    (Székely and Rizzo's U-centring): fourth moments do not enter, as they do by the normal formula.
    """
    chains = gram.shape[-1]
    whole = gram.mean(0)
    trace = (np.trace(whole) - whole.mean() * chains) / (chains - 1)
    centred = _centred(gram)
    square = _over_pairs_of_groups(centred) / (chains * (chains - 3))
    # By luck the estimate can vanish; n chains do not show more than about n² directions.
    return float(trace), max(square, (float(trace) / chains) ** 2)


def _centred(gram: Float[np.ndarray, "G n n"]) -> Float[np.ndarray, "G n n"]:
    chains = gram.shape[-1]
    chain = np.arange(chains)
    kernel = gram.copy()
    kernel[:, chain, chain] = 0.0
    rows = kernel.sum(-1) / (chains - 2)
    total = kernel.sum((-1, -2)) / ((chains - 1) * (chains - 2))
    kernel += total[:, None, None] - rows[:, :, None] - rows[:, None, :]
    kernel[:, chain, chain] = 0.0
    return kernel


def _over_pairs_of_groups(values: Float[np.ndarray, "G ..."]) -> float:
    """Sum of squares of what the groups have in common: products of different sketches only."""
    groups = len(values)
    flat = values.reshape(groups, -1)
    if groups == 1:
        return float(flat[0] @ flat[0])
    total = flat.sum(0)
    return float(total @ total - np.sum(flat * flat)) / (groups * (groups - 1))


def _variance_along(
    gram: Float[np.ndarray, "G n n"], value: float, trace: float, trace_of_square: float
) -> float:
    """Estimate s, the variance along the mean vector, shrunk towards tr(S²)/tr(S).

    <D_n, mean of the others> has variance E D' S E D + tr(S²)/(n-1).
    """
    chains = gram.shape[-1]
    rows = (gram.sum(-1) - np.diagonal(gram, axis1=-2, axis2=-1)) / (chains - 1)
    rows -= rows.mean(-1, keepdims=True)
    spread = _over_pairs_of_groups(rows) / (chains - 1) - trace_of_square / (chains - 1)
    average = trace_of_square / trace
    noise = math.sqrt(2 * trace_of_square / (chains * (chains - 1)))
    return float((max(spread, 0.0) + noise * average) / (max(value, 0.0) + noise))


def _noncentrality(found: float, freedom: float, probability: float) -> float:
    """Return λ such that χ'²_ν(λ) is below `found` with this probability; may be negative."""
    if found + freedom > LARGE:
        return _normal_noncentrality(found - freedom, freedom, float(special.ndtri(probability)))
    if found <= 0 or special.chndtr(found, freedom, 0.0) <= probability:
        return found - 2 * float(special.gammaincinv(freedom / 2, probability))
    return float(special.chndtrinc(found, freedom, probability))


def _normal_noncentrality(excess: float, freedom: float, z: float) -> float:
    """Return λ such that excess = λ + z √(2ν + 4λ): mean and variance of the law only."""
    at_zero = z * math.sqrt(2 * freedom)
    if excess <= at_zero:
        return excess - at_zero
    return excess + 2 * z * z - z * math.sqrt(4 * excess + 4 * z * z + 2 * freedom)


NO_SPLIT = "the parts of the bias are measured on synchronised starts only"


@dataclass(frozen=True)
class BiasParts:
    """|E(S-P)|² and |E(P-R)|²: what the advantages do, and what the phase of the episode does.

    The two vectors add to the bias; their squared lengths need not add to its squared length.
    """

    advantage: Estimate
    phase: Estimate


def sample_variance(
    mean_square: float | Float[np.ndarray, "..."],
    square_of_mean: float | Float[np.ndarray, "..."],
    samples: int,
) -> float | Float[np.ndarray, "..."]:
    """Return S² = Σ|g_i - G_B|² / (n-1), from the mean of |g_i|² and from |G_B|²."""
    return (mean_square - square_of_mean) * (samples / (samples - 1))


def bias_sq(products: Products) -> Estimate:
    """Estimate |E G - G*|², paired on the same chains: what they share drops out first."""
    return squared_length(products.difference)


def bias_parts(products: Products) -> BiasParts:
    """Estimate the two parts of the squared bias; undetermined without synchronised starts."""
    grams = (products.advantage_part, products.phase_part)
    found = [
        undetermined(NO_SPLIT, products.chains) if gram is None else squared_length(gram)
        for gram in grams
    ]
    return BiasParts(*found)


ZERO = "the gradient is zero"
STILL = "the gradient does not vary"
NO_VARIANCE = "the estimated variance is not above 0"


@dataclass(frozen=True)
class Decomposition:
    """Var(G_B) of N envs and T steps = individual + covariance, and what the covariance costs."""

    individual: Estimate
    covariance: Estimate
    variance: Estimate
    ess_ratio: Estimate
    covariance_share: Estimate


def decompose(
    products: Products, moments: PoolMoments, samples: Samples, envs: int | float
) -> Decomposition:
    """Estimate the variance of the gradient of N envs and its two parts.

    Var(G_B) = V(T)/N; individual = (1/N T²) Σ_t tr Var(g_t); covariance is the rest, of either
    sign. ESS/NT = individual / variance, never clipped at 1; share = covariance / variance.
    """
    whole = moments.variance
    # With one step there is nothing to covary: both are the same estimate, to the last digit.
    steps = step_variance(products, samples) / products.steps if products.steps > 1 else whole
    ratio = _ratio(products, steps, whole)
    return Decomposition(
        individual=_positive(steps / envs, products.chains),
        covariance=real((whole - steps) / envs, products.chains),
        variance=_positive(whole / envs, products.chains),
        ess_ratio=ratio,
        covariance_share=mapped(ratio, lambda share: 1 - share),
    )


def is_zero(products: Products) -> bool:
    """Return whether the gradient vanishes on every chain."""
    return not np.any(products.square)


def _positive(replicates: Replicates, chains: int) -> Estimate:
    if not np.any(replicates):
        return Estimate(0.0, 0.0, 0.0, chains)
    if replicates[0] <= 0:
        return undetermined(NO_VARIANCE, chains)
    return positive(replicates, chains)


def _ratio(products: Products, steps: Replicates, whole: Replicates) -> Estimate:
    if is_zero(products):
        return undetermined(ZERO, products.chains)
    if not np.any(whole):
        return undetermined(STILL, products.chains)
    if steps[0] <= 0 or whole[0] <= 0:
        return undetermined(NO_VARIANCE, products.chains)
    if not np.all(whole > 0):
        return undetermined("without one of the chains " + NO_VARIANCE, products.chains)
    return positive_ratio(steps / whole, products.chains)


class Drawn(NamedTuple):
    """Mini-batches of k independent batches: products of their means, and their mean |G_mb|².

    products: inner products of the means of G_mb, batch by batch.
    """

    products: Float[np.ndarray, "k k"]
    square: Float[np.ndarray, " k"]


def penalty(sampler: Drawn, shuffled: Drawn) -> Estimate:
    """Estimate Var(G_mb) of one way to draw over that of another, from the same batches.

    Var(G_mb) = E|G_mb|² - |E G_mb|², the second by products of different batches. So a sampler
    that prefers some samples is measured right too: its mean need not be that of the batch.
    """
    batches = len(sampler.square)
    samples = leave_one_out(batches)
    above, below = (
        samples.mean(one.square[None]) - samples.mean_of_pairs(one.products[None])
        for one in (sampler, shuffled)
    )
    if above[0] <= 0 or below[0] <= 0:
        return undetermined(NO_VARIANCE, batches)
    return positive_ratio(above / below, batches)
