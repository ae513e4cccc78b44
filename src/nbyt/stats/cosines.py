"""Cosines between gradients of independent batches, and the variance that they stand for.

A cosine discards length. That of two independent gradients with mean m and variance V is about
|m|² / (|m|² + V): all that it shows is how the noise compares with the mean.
"""

import math

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.jackknife import real
from nbyt.stats.samples import leave_one_out

_FEWEST = 3


def batch_gram(gram: Float[np.ndarray, "n n"], envs: int) -> Float[np.ndarray, "B B"]:
    """Inner products of means over `envs` neighbours each, from those of the single vectors."""
    count = len(gram) // envs
    return gram.reshape(count, envs, count, envs).mean(axis=(1, 3))


def cosine_matrix(gram: Float[np.ndarray, "B B"]) -> Float[np.ndarray, "B B"]:
    """Cosines between vectors with these inner products; nan where one of the two is 0."""
    length = np.sqrt(np.diagonal(gram))
    length = np.where(length > 0, length, np.nan)
    return gram / length[:, None] / length[None, :]


def mean_cosine(gram: Float[np.ndarray, "B B"], *, absolute: bool = False) -> Estimate:
    """The mean cosine between different vectors; vectors that are 0 have none and are left out.

    The jackknife over vectors knows that pairs share them. Where the mean vector is 0 its
    variance is up to twice the true one: such an interval is wide, never narrow.
    """
    kept = np.diagonal(gram) > 0
    if kept.sum() < _FEWEST:
        return undetermined("fewer than three gradients differ from 0", int(kept.sum()))
    cosines = cosine_matrix(gram[np.ix_(kept, kept)])
    samples = leave_one_out(len(cosines))
    kernel = np.abs(cosines) if absolute else cosines
    return real(samples.mean_of_pairs(kernel[None]), len(cosines))


def expected_cosine(gram: Float[np.ndarray, "B B"]) -> Estimate:
    """|m|² / (|m|² + V), the cosine to expect of two independent vectors like these.

    |m|² comes from pairs of different vectors, so it is without bias, and negative where noise
    rules; |m|² + V is their mean square.
    """
    count = len(gram)
    samples = leave_one_out(count)
    whole = samples.mean(np.diagonal(gram)[None])
    if np.any(whole <= 0):
        return undetermined("a sample of the gradients is all 0", count)
    return real(samples.mean_of_pairs(gram[None]) / whole, count)


def noise_cosine(gram: Float[np.ndarray, "B B"]) -> Estimate:
    """The mean |cosine| of gradients whose mean is 0, and whose spread is that of these.

    Differences of two gradients have no mean, whatever the mean of the gradients is.
    """
    count = len(gram) // 2
    signs = np.kron(np.eye(count), np.array([1.0, -1.0]))
    return mean_cosine(signs @ gram[: 2 * count, : 2 * count] @ signs.T, absolute=True)


def random_cosine(dimension: float) -> float:
    """The mean |cosine| of two directions drawn at random in so many dimensions, about √(2/πd).

    Exact for a round law of whole dimension: Γ(d/2) / (√π Γ((d+1)/2)).
    """
    if math.isinf(dimension):
        return 0.0
    logarithm = math.lgamma(dimension / 2) - math.lgamma((dimension + 1) / 2)
    return math.exp(logarithm) / math.sqrt(math.pi)
