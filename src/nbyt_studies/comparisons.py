"""What one training says of a layout; batches by their cosines, samples by energy distance."""

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import (
    Replicates,
    deviations,
    is_rough,
    leave_one_out,
    real,
    spread,
)
from nbyt.stats.products import moments_of, step_variance
from nbyt.stats.ranking import Candidate, common_samples

# Cosines between gradients of independent batches, and the variance that they stand for.
#
# A cosine discards length. That of two independent gradients with mean m and variance V is about
# |m|² / (|m|² + V): all that it shows is how the noise compares with the mean.

# Energy distance: how far apart two laws are, from chains that sampled them.
#
# 2 E|X - Y| - E|X - X'| - E|Y - Y'| is 0 if both laws are the same and above 0 else (Székely).
# Pairs of points always come from different chains, so the estimate is unbiased, also where the
# points of one chain depend on each other, and where chain i of both samples has the same random
# numbers: that only makes the estimate sharper.

_FAR = 10.0

Points = Float[np.ndarray, "n k d"]


def energy_kernel(x: Points, y: Points) -> Float[np.ndarray, "n n"]:
    """Return |x_i - y_j| + |x_j - y_i| - |x_i - x_j| - |y_i - y_j|, averaged over chains' points.

    Its mean over pairs of different chains is the estimate.
    """
    across = _distances(x, y)
    return across + across.T - _distances(x, x) - _distances(y, y)


def energy_of(kernel: Float[np.ndarray, "n n"]) -> Estimate:
    """Estimate the energy distance from its kernel, or from a mean of kernels of the same chains.

    The interval is over chains, and nothing is clipped at 0.
    Near 0 the jackknife's error is small where the estimate happens to be low. Its variance is
    therefore taken to be at least that of equal laws, 2 E[h^2] / n(n-1), which hardly varies. Up
    to some such errors the upper bound is still low more often than it should be: approximate.
    """
    chains = len(kernel)
    replicates = leave_one_out(chains).mean_of_pairs(kernel[None])
    shape = spread(deviations(replicates, chains), chains)
    apart = kernel[~np.eye(chains, dtype=bool)]
    least = 2 * float(np.mean(apart**2)) / (chains * (chains - 1))
    half = shape.quantile() * math.sqrt(max(shape.variance, least))
    value = float(replicates[0])
    rough = is_rough(replicates, chains) or value < _FAR * math.sqrt(least)
    return Estimate(value, value - half, value + half, chains, approximate=rough)


def _distances(x: Points, y: Points) -> Float[np.ndarray, "n n"]:
    (n, k, d), m = x.shape, len(y)
    flat, other = np.asarray(x, float).reshape(-1, d), np.asarray(y, float).reshape(-1, d)
    square = (flat**2).sum(1)[:, None] + (other**2).sum(1)[None] - 2 * flat @ other.T
    return np.sqrt(np.maximum(square, 0.0)).reshape(n, k, m, -1).mean(axis=(1, 3))


_FEWEST = 3


def batch_gram(gram: Float[np.ndarray, "n n"], envs: int) -> Float[np.ndarray, "B B"]:
    """Return inner products of means over `envs` neighbours each, from those of single vectors."""
    count = len(gram) // envs
    return gram.reshape(count, envs, count, envs).mean(axis=(1, 3))


def cosine_matrix(gram: Float[np.ndarray, "B B"]) -> Float[np.ndarray, "B B"]:
    """Return cosines between vectors with these inner products; nan where one of the two is 0."""
    length = np.sqrt(np.diagonal(gram))
    length = np.where(length > 0, length, np.nan)
    return gram / length[:, None] / length[None, :]


def mean_cosine(gram: Float[np.ndarray, "B B"], *, absolute: bool = False) -> Estimate:
    """Estimate the mean cosine between different vectors; vectors that are 0 are left out.

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
    """Estimate |m|² / (|m|² + V), the cosine to expect of two independent vectors like these.

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
    """Estimate the mean |cosine| of gradients with mean 0 and the spread of these.

    Differences of two gradients have no mean, whatever the mean of the gradients is.
    """
    count = len(gram) // 2
    signs = np.kron(np.eye(count), np.array([1.0, -1.0]))
    return mean_cosine(signs @ gram[: 2 * count, : 2 * count] @ signs.T, absolute=True)


def random_cosine(dimension: float) -> float:
    """Return the mean |cosine| of two random directions in so many dimensions, about √(2/πd).

    Exact for a round law of whole dimension: Γ(d/2) / (√π Γ((d+1)/2)).
    """
    if math.isinf(dimension):
        return 0.0
    logarithm = math.lgamma(dimension / 2) - math.lgamma((dimension + 1) / 2)
    return math.exp(logarithm) / math.sqrt(math.pi)


def training_numbers(one: Candidate) -> dict[str, float | None]:
    """Return what the stage of one training says of a layout; intervals are over trainings.

    variance: Var(G_B). individual: its first term. covariance_share: the second over both.
    progress: signed square of the mean's length along the true gradient. signal: that over the
    variance. relative_bias: |E G - G*|² / |G*|², below 0 where it is lost in the noise. None where
    what a number is divided by is not above 0.
    """
    samples = common_samples([one])
    moments = moments_of(one.products, samples)
    variance = moments.variance / one.envs
    individual = variance
    if one.products.steps > 1:
        individual = step_variance(one.products, samples) / (one.products.steps * one.envs)
    along = moments.along * np.abs(moments.along)
    progress = _unbiased(_over(along, moments.reference_sq))
    bias = moments.mean_sq - 2 * moments.along + moments.reference_sq
    return {
        "variance": _number(variance[0]),
        "individual": _number(individual[0]),
        "covariance_share": _number(_over(variance - individual, variance)[0]),
        "progress": _number(progress),
        "signal": _number(_over(progress, variance[0])),
        "relative_bias": _number(_over(bias, moments.reference_sq)[0]),
    }


def _over(part: Any, whole: Any) -> Any:
    return part / np.where(whole > 0, whole, np.nan)


def _unbiased(replicates: Replicates) -> float:
    """Return a square's estimate without the share that its root's own error adds (jackknife)."""
    whole, *without = replicates
    count = len(without)
    return float(count * whole - (count - 1) * np.mean(without))


def _number(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None
