"""Alignment: how much of the best possible step a layout's gradient keeps, and what takes the rest.

η = x|x| / (y z) = bias factor · noise factor, with x = G*·E G, y = |G*|², u = |E G|² and
z = u + V/N. The bias factor x|x| / (u y) is cos|cos|, signed; the noise factor is u / z.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from nbyt.stats.combine import divided, mapped
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import Bounds, Replicates, correlation, is_rough, ratio_set, within
from nbyt.stats.length import FEW_DIRECTIONS, dimension, squared_length
from nbyt.stats.products import PoolMoments, Products
from nbyt.stats.variance import ZERO, is_zero

NO_SHARE = "the estimate of |E G|² is below 0 by more than its error"


@dataclass(frozen=True)
class Direction:
    """Where the gradient of N envs points, on average and in a single batch."""

    cosine: Estimate
    bias_factor: Estimate
    noise_factor: Estimate
    alignment: Estimate


def direction(products: Products, moments: PoolMoments, variance: Estimate, envs: int) -> Direction:
    """Cosine, bias factor, noise factor and alignment, each null with a reason where undefined.

    Cosine, bias factor and alignment are approximate together: where the cosine may be ±1, the top
    of its range, its error has no part of first order and intervals are wide, 98 % or more; and
    where chains spread in few directions, the error is far from normal.
    """
    chains = products.chains
    if is_zero(products):
        return Direction(*[undetermined(ZERO, chains)] * 4)
    noise = noise_factor(products, moments, variance, envs)
    if not np.any(products.reference):
        nothing = undetermined("the reference gradient is zero", chains)
        return Direction(nothing, nothing, noise, nothing)
    x, reference = moments.along, {"|G*|²": moments.reference_sq}
    cosine = _cosine(x, {"|E G|²": moments.mean_sq, **reference}, chains)
    if dimension(products.difference) < FEW_DIRECTIONS:
        cosine = replace(cosine, approximate=True)
    root = _cosine(x, {"|E G|² + V/N": moments.second_moment(envs), **reference}, chains)
    root = replace(root, approximate=root.approximate or cosine.approximate)
    return Direction(cosine, mapped(cosine, _signed_square), noise, mapped(root, _signed_square))


def _cosine(top: Replicates, lengths: dict[str, Replicates], chains: int) -> Estimate:
    """x / √(product of two squared lengths), which the truth keeps in [-1, 1]: its Fieller set.

    Where the interval ends at -1 or 1, one of its sides cannot err: it covers more than 95 %.
    """
    bounds = _bounds(top, list(lengths.values()), chains)
    if bounds == (-1.0, 1.0):
        return Estimate(None, -1.0, 1.0, chains, "the data allow everything from -1 to 1", True)
    weak = [name for name, length in lengths.items() if length[0] <= 0]
    if weak:
        reason = f"the estimate of {' and of '.join(weak)} is not above 0"
        low, high = bounds or (None, None)
        return Estimate(None, low, high, chains, reason, True)
    value = float(top[0] / math.sqrt(math.prod(float(length[0]) for length in lengths.values())))
    if bounds is None:
        end = math.copysign(1.0, value)
        return Estimate(value, end, end, chains, "all that the data allow lies beyond", True)
    rough = is_rough(top, chains) or -1.0 in bounds or 1.0 in bounds
    return Estimate(value, bounds[0], bounds[1], chains, "", rough)


def _bounds(top: Replicates, lengths: list[Replicates], chains: int) -> Bounds | None:
    """The part in [-1, 1] of all c for which x - c √(yz) lies within t errors of 0.

    x|x| - c|c| yz does not need yz > 0, so it serves where some sample says otherwise; but a square
    is skewed where x is but a few errors from 0, and its sets are twice as wide.
    """
    bottom = np.prod(lengths, axis=0)
    if np.all(np.array(lengths) > 0):
        return within(ratio_set(top, np.sqrt(bottom), chains), -1.0, 1.0)
    squared = within(ratio_set(top * np.abs(top), bottom, chains), -1.0, 1.0)
    return squared and (_signed_root(squared[0]), _signed_root(squared[1]))


def noise_factor(
    products: Products, moments: PoolMoments, variance: Estimate, envs: int | float
) -> Estimate:
    """u / (u + V/N) = r / (r + 1), from the interval of the ratio r = u / (V/N), kept in [0, 1].

    The estimate of u may be negative, a share may not. An interval that lies below 0 as a whole
    holds no share at all: cut at 0, it would say that there is surely no signal.
    """
    if variance.value is None:
        return variance
    if variance.value == 0.0:
        return Estimate(1.0, 1.0, 1.0, products.chains)
    linked = correlation(moments.mean_sq, moments.variance, products.chains)
    ratio = divided(squared_length(products.means), variance, linked)
    if ratio.high is not None and ratio.high <= 0:
        return undetermined(NO_SHARE, products.chains)
    return mapped(ratio, _share)


def _share(ratio: float) -> float:
    """r / (r + 1), and 0 where r is negative."""
    if ratio <= 0:
        return 0.0
    return 1.0 if math.isinf(ratio) else ratio / (1 + ratio)


def _signed_square(number: float) -> float:
    return number * abs(number)


def _signed_root(number: float) -> float:
    return math.copysign(math.sqrt(abs(number)), number)
