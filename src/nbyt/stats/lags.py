"""Lags: how the contributions of steps correlate along a chain, and across chains."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from nbyt.stats.estimate import Estimate, mean, undetermined
from nbyt.stats.intervals import DEPENDABLE, Replicates, is_rough, leave_one_out, student


@dataclass(frozen=True)
class PhaseProducts:
    """Products of different chains of a synchronised pool, by independent blocks of chains.

    G_nj is the gradient of chain n in its j-th fragment; all chains of a block started together.
    """

    pairs: Float[np.ndarray, "blocks J"]
    """Mean over pairs of different chains of <G_nj, G_mj>."""
    overall: Float[np.ndarray, " blocks"]
    """Mean over pairs of different chains of <mean_j G_nj, mean_j G_mj>."""

    def plus(self, other: "PhaseProducts", weight: float) -> "PhaseProducts":
        """Add the products of a gradient in other parameters, times `weight`."""
        return PhaseProducts(
            self.pairs + weight * other.pairs, self.overall + weight * other.overall
        )


def phase_variance(products: PhaseProducts) -> Estimate:
    """Estimate mean_j |E_j G|² - |mean_j E_j G|² from each block alone; t interval over blocks.

    It adds to V/N in the variance over updates, and more envs do not make it smaller.
    """
    pairs = np.asarray(products.pairs, float)
    found = mean(pairs.mean(-1) - products.overall)
    return replace(found, approximate=found.replicates < DEPENDABLE)


CERTAIN = 0.999
"""Level of the check of independence: one warning in a thousand sound pools, not one in twenty."""

NO_VARIANCE = "the steps' estimated variance is not above 0"


@dataclass(frozen=True)
class LagProducts:
    """Inner products of single steps, chain by chain; partners as in `Products`."""

    lags: Int[np.ndarray, " k"]
    within: Float[np.ndarray, "k n"]
    """Mean over t of <g_t, g_{t+lag}> along chain n."""
    square: Float[np.ndarray, " n"]
    """Mean over t of |g_t|²."""
    means: Float[np.ndarray, "n n"]
    """Gram matrix of the chains' means of g_t."""
    step_pairs: Float[np.ndarray, " n"]
    """Mean over t of the sum over partners m of <g_nt, g_mt>."""
    partners: Int[np.ndarray, " n"]


@dataclass(frozen=True)
class LagProfile:
    """Correlation at each lag, that of different chains at the same time, and its verdict."""

    lags: tuple[int, ...]
    within: tuple[Estimate, ...]
    across: Estimate
    independent: bool

    def as_dict(self) -> dict[str, Any]:
        return {
            "within": {str(k): e.as_dict() for k, e in zip(self.lags, self.within, strict=True)},
            "across": self.across.as_dict(),
            "independent": self.independent,
        }


def lag_profile(products: LagProducts) -> LagProfile:
    """Estimate the correlation of contributions along a chain, and across chains.

    ρ_k = (mean g_t·g_{t+k} - |E g|²) / (E|g|² - |E g|²) for every lag; |E g|² comes from pairs of
    different chains.

    Parameters
    ----------
    products
        Inner products of single steps.

    Returns
    -------
    LagProfile
        `independent` is false if the 99.9 % interval of the correlation across chains does not
        hold 0; for chains that started together, a difference between the phases of the episode
        shows there too.

    Examples
    --------
    White noise of 64 chains does not correlate with itself a step later:

    >>> import numpy as np
    >>> g = np.random.default_rng(0).normal(size=(100, 64))
    >>> later, square, mean = np.mean(g[1:] * g[:-1], 0), np.mean(g**2, 0), g.mean(0)
    >>> others = np.mean(g * (g.sum(1, keepdims=True) - g), 0)
    >>> partners = np.full(64, 63)
    >>> profile = lag_profile(
    ...     LagProducts(np.array([1]), later[None], square, np.outer(mean, mean), others, partners)
    ... )
    >>> print(profile.within[0])
    -0.00086 [-0.030, 0.029]
    >>> profile.independent
    True
    """
    chains = len(products.square)
    samples = leave_one_out(chains)
    mean_sq = samples.mean_of_pairs(products.means[None])
    variance = samples.mean(products.square[None]) - mean_sq
    lags = tuple(int(lag) for lag in products.lags)
    if np.any(variance <= 0):
        nothing = undetermined(NO_VARIANCE, chains)
        return LagProfile(lags, (nothing,) * len(lags), nothing, independent=True)
    within = [(samples.mean(row[None]) - mean_sq) / variance for row in products.within]
    weights = 2 * samples.chains - 1
    pairs = (weights @ products.step_pairs) / (weights @ products.partners)
    across = _second_order((pairs - mean_sq) / variance)
    low, high = student(across, chains, CERTAIN)
    return LagProfile(
        lags=lags,
        within=tuple(_estimate(row, chains) for row in within),
        across=_estimate(across, chains),
        independent=low <= 0 <= high,
    )


def _second_order(replicates: Replicates) -> Replicates:
    """Return replicates whose spread is that of a statistic made of pairs alone.

    If chains are independent, the mean product of their deviations is 0 whatever the other chain
    does, so no chain has an effect of its own; leaving a chain out then shows each pair's effect
    twice, once for either chain, and the jackknife's variance is twice the true one.
    """
    return np.asarray(replicates[0] + (replicates - replicates[0]) / math.sqrt(2))


def _estimate(replicates: Replicates, chains: int) -> Estimate:
    low, high = student(replicates, chains)
    rough = is_rough(replicates, chains)
    return Estimate(float(replicates[0]), low, high, chains, approximate=rough)
