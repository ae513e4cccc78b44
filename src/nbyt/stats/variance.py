"""Variance of a batch gradient and its two parts: each step's own, and the steps' covariance."""

from dataclasses import dataclass

import numpy as np

from nbyt.stats.combine import mapped
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.jackknife import positive, positive_ratio, real
from nbyt.stats.moments import PoolMoments, step_variance
from nbyt.stats.products import Products
from nbyt.stats.samples import Replicates, Samples

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
