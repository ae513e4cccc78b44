"""Variance of a batch gradient and its two parts: each step's own, and the steps' covariance."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.stats.combine import mapped
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import Replicates, Samples, leave_one_out, positive, positive_ratio, real
from nbyt.stats.length import squared_length
from nbyt.stats.products import PoolMoments, Products, step_variance

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
    """|E G - G*|², paired on the same chains: what they share drops out before it is squared."""
    return squared_length(products.difference)


def bias_parts(products: Products) -> BiasParts:
    """The two parts of the squared bias, undetermined where starts were not synchronised."""
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
    """The variance of the gradient of N envs, split into its two parts.

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
    """Whether the gradient vanishes on every chain."""
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
    """Var(G_mb) of one way to draw over that of another, from the same batches.

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
