"""Alignment: how much of the best possible step a layout's gradient keeps, and what takes the rest.

η = x|x| / (y z) = bias factor · noise factor, with x = G*·E G, y = |G*|², u = |E G|² and
z = u + V/N. The bias factor x|x| / (u y) is cos|cos|, signed; the noise factor is u / z.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from nbyt.stats.combine import divided, mapped
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.fieller import ratio_set, within
from nbyt.stats.jackknife import DEPENDABLE
from nbyt.stats.length import FEW_DIRECTIONS, dimension, squared_length
from nbyt.stats.moments import Moments
from nbyt.stats.products import Products
from nbyt.stats.samples import Replicates
from nbyt.stats.variance import ZERO, is_zero


@dataclass(frozen=True)
class Direction:
    """Where the gradient of N envs points, on average and in a single batch."""

    cosine: Estimate
    bias_factor: Estimate
    noise_factor: Estimate
    alignment: Estimate


def direction(products: Products, moments: Moments, variance: Estimate, envs: int) -> Direction:
    """Cosine, bias factor, noise factor and alignment, each null with a reason where undefined.

    Cosine, bias factor and alignment are approximate together: where the cosine may be ±1, the top
    of its range, its error has no part of first order and intervals are wide, 98 % or more; and
    where chains spread in few directions, the error is far from normal.
    """
    chains = products.chains
    if is_zero(products):
        return Direction(*[undetermined(ZERO, chains)] * 4)
    noise = _noise_factor(products, moments, variance, envs)
    if not np.any(products.reference):
        nothing = undetermined("the reference gradient is zero", chains)
        return Direction(nothing, nothing, noise, nothing)
    x = moments.along
    lengths = {"|E G|²": moments.mean_sq, "|G*|²": moments.reference_sq}
    factor = _fraction(x * np.abs(x), lengths, chains)
    if dimension(products.difference) < FEW_DIRECTIONS:
        factor = replace(factor, approximate=True)
    lengths = {"|E G|² + V/N": moments.second_moment(envs), "|G*|²": moments.reference_sq}
    whole = _fraction(x * np.abs(x), lengths, chains)
    whole = replace(whole, approximate=whole.approximate or factor.approximate)
    return Direction(mapped(factor, _root), factor, noise, whole)


def _fraction(top: Replicates, lengths: dict[str, Replicates], chains: int) -> Estimate:
    """top / (product of squared lengths), which the truth keeps in [-1, 1]: its Fieller set there.

    Where the interval ends at -1 or 1, one of its sides cannot err: it covers more than 95 %.
    """
    bottom = np.prod(list(lengths.values()), axis=0)
    bounds = within(ratio_set(top, bottom, chains), -1.0, 1.0)
    weak = [name for name, length in lengths.items() if length[0] <= 0]
    if bounds == (-1.0, 1.0):
        return Estimate(None, -1.0, 1.0, chains, "the data allow everything from -1 to 1", True)
    if weak:
        reason = f"the estimate of {' and of '.join(weak)} is not above 0"
        low, high = bounds or (None, None)
        return Estimate(None, low, high, chains, reason, True)
    value = float(top[0] / bottom[0])
    if bounds is None:
        end = math.copysign(1.0, value)
        return Estimate(value, end, end, chains, "all that the data allow lies beyond", True)
    rough = chains < DEPENDABLE or -1.0 in bounds or 1.0 in bounds
    return Estimate(value, bounds[0], bounds[1], chains, "", rough)


def _noise_factor(products: Products, moments: Moments, variance: Estimate, envs: int) -> Estimate:
    """u / (u + V/N) = r / (r + 1), from the interval of the ratio r = u / (V/N)."""
    if variance.value is None:
        return variance
    if variance.value == 0.0:
        return Estimate(1.0, 1.0, 1.0, products.chains)
    if moments.second_moment(envs)[0] <= 0:
        reason = "the estimate of |E G|² + V/N is not above 0"
        return undetermined(reason, products.chains)
    return mapped(divided(squared_length(products.means), variance), _share)


def _share(ratio: float) -> float:
    """r / (r + 1), and -1 where that would be less on the way to its pole at r = -1."""
    if math.isinf(ratio):
        return math.copysign(1.0, ratio)
    return ratio / (1 + ratio) if ratio > -0.5 else -1.0


def _root(factor: float) -> float:
    """The cosine whose cos|cos| this is."""
    return math.copysign(math.sqrt(abs(factor)), factor)
