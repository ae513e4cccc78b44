"""The mean return of a stage's episodes, from the pool that is there anyway."""

import numpy as np
from jaxtyping import Float

from nbyt.collect.pool import Pool
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.jackknife import real
from nbyt.stats.samples import leave_one_out


def return_sums(pool: Pool, reward_unit: float) -> Float[np.ndarray, "2 n"]:
    """Each chain's reward and ended episodes per step, in the env's own rewards."""
    ended = pool.terminated | pool.truncated
    return np.stack([pool.reward.mean(axis=0) * reward_unit, ended.mean(axis=0)])


def mean_return(sums: Float[np.ndarray, "2 n"]) -> Estimate:
    """Reward per step over episodes per step: no episode is cut short, nor is a short one favoured.

    Whole episodes alone would favour short ones, as chains of so many steps hold more of them.
    """
    chains = sums.shape[1]
    samples = leave_one_out(chains)
    reward, ended = (samples.mean(row[None]) for row in sums)
    if np.any(ended <= 0):
        return undetermined("too few episodes end within the chains", chains)
    return real(reward / ended, chains)
