"""Phase: how the expected gradient moves from update to update when envs started together."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate, mean
from nbyt.stats.jackknife import DEPENDABLE


@dataclass(frozen=True)
class PhaseProducts:
    """Products of different chains of a synchronised pool, by independent blocks of chains.

    G_nj is the gradient of chain n in its j-th fragment; all chains of a block started together.
    """

    pairs: Float[np.ndarray, "blocks J"]
    """Mean over pairs of different chains of <G_nj, G_mj>."""
    overall: Float[np.ndarray, " blocks"]
    """Mean over pairs of different chains of <mean_j G_nj, mean_j G_mj>."""


def phase_variance(products: PhaseProducts) -> Estimate:
    """mean_j |E_j G|² - |mean_j E_j G|², from each block alone; t interval over blocks.

    It adds to V/N in the variance over updates, and more envs do not make it smaller.
    """
    pairs = np.asarray(products.pairs, float)
    found = mean(pairs.mean(-1) - products.overall)
    return replace(found, approximate=found.replicates < DEPENDABLE)
