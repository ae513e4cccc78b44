"""Energy distance: how far apart two laws are, from chains that sampled them.

2 E|X - Y| - E|X - X'| - E|Y - Y'| is 0 if both laws are the same and above 0 else (Székely). Pairs
of points always come from different chains, so the estimate is unbiased, also where the points of
one chain depend on each other, and where chain i of one sample shares its luck with chain i of the
other: that only makes the estimate sharper.
"""

import math

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate
from nbyt.stats.jackknife import deviations, is_rough, spread
from nbyt.stats.samples import leave_one_out

_FAR = 10.0

Points = Float[np.ndarray, "n k d"]


def energy_kernel(x: Points, y: Points) -> Float[np.ndarray, "n n"]:
    """|x_i - y_j| + |x_j - y_i| - |x_i - x_j| - |y_i - y_j|, averaged over the points of chains.

    Its mean over pairs of different chains is the estimate.
    """
    across = _distances(x, y)
    return across + across.T - _distances(x, x) - _distances(y, y)


def energy_of(kernel: Float[np.ndarray, "n n"]) -> Estimate:
    """The energy distance from its kernel, or from a mean of such kernels over the same chains.

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
    """The mean distance between the points of each chain of x and each of y."""
    (n, k, d), m = x.shape, len(y)
    flat, other = np.asarray(x, float).reshape(-1, d), np.asarray(y, float).reshape(-1, d)
    square = (flat**2).sum(1)[:, None] + (other**2).sum(1)[None] - 2 * flat @ other.T
    return np.sqrt(np.maximum(square, 0.0)).reshape(n, k, m, -1).mean(axis=(1, 3))
