"""How good the critic is: the share of the returns' variance that it explains."""

import numpy as np
from jaxtyping import Float

from nbyt.collect.pool import Pool
from nbyt.gradients.weights import reference_advantages
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.jackknife import real
from nbyt.stats.samples import leave_one_out


def critic_sums(pool: Pool, gamma: float, measured: int) -> Float[np.ndarray, "4 n"]:
    """Each chain's means of return, its square, the critic's error, and its square."""
    error = reference_advantages(pool, gamma)[:measured]
    target = error + pool.value[:measured]
    return np.stack([x.mean(axis=0) for x in (target, target**2, error, error**2)])


def explained_variance(sums: Float[np.ndarray, "4 n"]) -> Estimate:
    """1 - Var(return - value) / Var(return): 1 for a perfect critic, 0 for a constant one."""
    chains = sums.shape[1]
    samples = leave_one_out(chains)
    target, target_square, error, error_square = (samples.mean(row[None]) for row in sums)
    spread = target_square - target**2
    if np.any(spread <= 1e-12 * np.maximum(target_square, 1e-300)):
        return undetermined("all returns are equal: there is nothing to explain", chains)
    return real(1 - (error_square - error**2) / spread, chains)
