"""Shares of a variance: how much of it is known once the group is, from a few members of each."""

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.jackknife import real
from nbyt.stats.samples import leave_one_out


def explained_share(vectors: Float[np.ndarray, "m n p"]) -> Estimate:
    """tr Var(E[G | group]) / tr Var(G), from m >= 2 independent draws of G in each of n groups.

    The numerator is the covariance of different draws of a group. Every product is one of
    different draws, or of a draw with itself, where that is meant: numerator and denominator are
    unbiased. The interval is the jackknife's over groups.
    """
    draws, groups, _ = vectors.shape
    if draws < 2:
        return undetermined("one draw of a group cannot be told from its mean", groups)
    samples = leave_one_out(groups)
    total = vectors.sum(axis=0, dtype=float)
    own = np.einsum("mnp,mnp->n", vectors, vectors, dtype=float)
    pairs = (np.einsum("np,np->n", total, total) - own) / (draws * (draws - 1))
    squared_mean = samples.mean_of_pairs((total @ total.T)[None] / draws**2)
    variance = samples.mean(own[None] / draws) - squared_mean
    if np.any(variance <= 0):
        return undetermined("the estimated variance is not above 0", groups)
    return real((samples.mean(pairs[None]) - squared_mean) / variance, groups)
