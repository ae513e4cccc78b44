"""Sampling from a batch: the variance that mini-batches add, and the samples that they miss.

A mini-batch's gradient is the mean of m of the batch's n contributions. Given the batch it scatters
around the batch's own gradient G_B; formulas for that are exact, whatever the contributions are.
"""

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import leave_one_out, positive_ratio
from nbyt.stats.variance import NO_VARIANCE

Numbers = float | Float[np.ndarray, "..."]


def without_replacement(spread: Numbers, samples: int, minibatch: int) -> Numbers:
    """E|G_mb - G_B|² of m different samples of the batch: (1 - m/n) S²/m."""
    return (1 - minibatch / samples) * spread / minibatch


def with_replacement(spread: Numbers, samples: int, minibatch: int) -> Numbers:
    """E|G_mb - G_B|² of m samples fetched one by one from all: (n-1)/n S²/m."""
    return (samples - 1) / samples * spread / minibatch


def disjoint_covariance(variance: Numbers, spread: Numbers, samples: int) -> Numbers:
    """Cov(G_mb, G_mb') of two mini-batches of one epoch, Var(G_B) - S²/n, whatever their size.

    With the batch's own scatter taken out, each draws away what the other gets: -S²/n.
    """
    return variance - spread / samples


def never_fetched(samples: int, minibatch: int, fetches: int, *, replace: bool = True) -> float:
    """The expected share of samples in none of so many mini-batches that are fetched at random.

    (1 - 1/n)^(m k) one by one; (1 - m/n)^k where a mini-batch holds no sample twice.
    """
    if replace:
        return float((1 - 1 / samples) ** (minibatch * fetches))
    return float((1 - minibatch / samples) ** fetches)


def variance_ratio(
    gram: Float[np.ndarray, "k k"], extra: Float[np.ndarray, " k"], other: Float[np.ndarray, " k"]
) -> Estimate:
    """(Var(G_B) + E extra) / (Var(G_B) + E other), from k independent batches.

    gram: inner products of the batches' gradients G_B. extra, other: the mean |G_mb - G_B|² of two
    ways to cut each batch, each of which uses all of its samples alike; 0 for the batch as a whole.
    """
    batches = len(gram)
    samples = leave_one_out(batches)
    whole = samples.mean(np.diagonal(gram)[None]) - samples.mean_of_pairs(gram[None])
    above, below = (whole + samples.mean(x[None]) for x in (extra, other))
    if above[0] <= 0 or below[0] <= 0:
        return undetermined(NO_VARIANCE, batches)
    return positive_ratio(above / below, batches)
