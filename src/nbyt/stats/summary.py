"""Summary of one gradient of one layout: the ten numbers that every report shows.

The alignment is the share of the best possible step that a layout's gradient keeps:
η = x|x| / (y z) = bias factor · noise factor, with x = G*·E G, y = |G*|², u = |E G|² and
z = u + V/N. The bias factor x|x| / (u y) is cos|cos|, signed; the noise factor is u / z.
"""

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from nbyt.stats.estimate import Estimate, added, divided, mapped, undetermined
from nbyt.stats.intervals import (
    Bounds,
    Replicates,
    correlation,
    is_rough,
    leave_one_out,
    ratio_set,
    within,
)
from nbyt.stats.products import PoolMoments, Products, moments_of
from nbyt.stats.variance import (
    FEW_DIRECTIONS,
    ZERO,
    bias_sq,
    decompose,
    dimension,
    is_zero,
    squared_length,
)

NO_SHARE = "the estimate of |E G|² is below 0 by more than its error"


@dataclass(frozen=True)
class Direction:
    """Where the gradient of N envs points, on average and in a single batch."""

    cosine: Estimate
    bias_factor: Estimate
    noise_factor: Estimate
    alignment: Estimate


def direction(products: Products, moments: PoolMoments, variance: Estimate, envs: int) -> Direction:
    """Estimate cosine, bias factor, noise factor and alignment, or say why one is undefined.

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
    """Estimate x / √(product of two squared lengths), in [-1, 1]: its Fieller set.

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
    """Return the part in [-1, 1] of all c for which x - c √(yz) lies within t errors of 0.

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
    """Estimate u / (u + V/N) = r / (r + 1) from the interval of r = u / (V/N), in [0, 1].

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
    """Return r / (r + 1), and 0 where r is negative."""
    if ratio <= 0:
        return 0.0
    return 1.0 if math.isinf(ratio) else ratio / (1 + ratio)


def _signed_square(number: float) -> float:
    return number * abs(number)


def _signed_root(number: float) -> float:
    return math.copysign(math.sqrt(abs(number)), number)


NO_SIGNAL = "the mean gradient cannot be told from 0"


@dataclass(frozen=True)
class BatchEstimates:
    """One gradient (actor, critic or total) of a batch: its noise, and what it is made of.

    noise_scale: samples of a batch whose noise equals its signal.
    """

    individual: Estimate
    covariance: Estimate
    variance: Estimate
    ess_ratio: Estimate
    covariance_share: Estimate
    noise_factor: Estimate
    noise_scale: Estimate

    def as_dict(self) -> dict[str, dict[str, float | str | bool | None]]:
        return {field.name: getattr(self, field.name).as_dict() for field in fields(self)}


def describe_batch(
    products: Products, units: int | float, *, rough: bool = False
) -> BatchEstimates:
    """Estimate everything reported of a batch of so many units, some or all of them measured.

    rough: whether all of it is approximate, as where units are pieces of one stream and so only
    nearly independent, or where the scale of the advantages is itself estimated.
    """
    samples = leave_one_out(products.chains, products.groups)
    moments = moments_of(products, samples)
    parts = decompose(products, moments, samples, units)
    noise = undetermined(ZERO, products.chains)
    if not is_zero(products):
        noise = noise_factor(products, moments, parts.variance, units)
    found = BatchEstimates(
        parts.individual,
        parts.covariance,
        parts.variance,
        parts.ess_ratio,
        parts.covariance_share,
        noise,
        noise_scale(noise, units * products.steps),
    )
    if not rough:
        return found
    named = {field.name: getattr(found, field.name) for field in fields(found)}
    return BatchEstimates(**{name: replace(one, approximate=True) for name, one in named.items()})


def noise_scale(noise: Estimate, batch: int | float) -> Estimate:
    """Estimate B (1/f - 1) for the noise factor f of a batch of B: signal equals noise there."""
    if noise.value is None:
        return undetermined(noise.reason, noise.replicates)
    value, high, low = (
        None if f is None else _scale(f, batch) for f in (noise.value, noise.low, noise.high)
    )
    if noise.value == 0:
        return Estimate(None, low, high, noise.replicates, NO_SIGNAL, True)
    return Estimate(value, low, high, noise.replicates, noise.reason, noise.approximate)


def _scale(factor: float, batch: int | float) -> float:
    return batch * (1 / factor - 1) if factor > 0 else math.inf


@dataclass(frozen=True)
class GradientEstimates:
    """What is measured of one gradient (actor, critic or total) for a layout of N envs, T steps."""

    individual: Estimate
    covariance: Estimate
    variance: Estimate
    ess_ratio: Estimate
    bias_sq: Estimate
    mse: Estimate
    cosine: Estimate
    bias_factor: Estimate
    noise_factor: Estimate
    alignment: Estimate

    def as_dict(self) -> dict[str, dict[str, float | str | bool | None]]:
        return {field.name: getattr(self, field.name).as_dict() for field in fields(self)}


def describe(products: Products, envs: int) -> GradientEstimates:
    """Estimate everything that is reported of the gradient of N envs by T steps.

    Parameters
    ----------
    products
        Inner products of the chains' gradients at one T.
    envs
        N, which may be larger than the number of chains: Var(G_B) = V(T)/N for every N.

    Returns
    -------
    GradientEstimates

    Examples
    --------
    Gradients of 64 chains, of one step each, around a reference that is known:

    >>> import numpy as np
    >>> from nbyt.stats import Products
    >>> truth = np.ones(8)
    >>> g = truth + np.random.default_rng(0).normal(size=(64, 8))
    >>> r = np.tile(truth, (64, 1))
    >>> square = np.sum(g**2, axis=1)[None]
    >>> partners = np.full(64, 63)
    >>> nothing = np.zeros((1, 64))
    >>> grams = [(a @ b.T)[None] for a, b in ((g, g), (g, r), (r, r))]
    >>> estimates = describe(Products(1, square, square, nothing, partners, *grams), envs=4)
    >>> print(estimates.variance)
    2.02 [1.81, 2.31]
    >>> print(estimates.alignment)
    ~0.784 [0.734, 0.829]
    """
    samples = leave_one_out(products.chains, products.groups)
    moments = moments_of(products, samples)
    parts = decompose(products, moments, samples, envs)
    bias, pointing = bias_sq(products), direction(products, moments, parts.variance, envs)
    found = GradientEstimates(
        individual=parts.individual,
        covariance=parts.covariance,
        variance=parts.variance,
        ess_ratio=parts.ess_ratio,
        bias_sq=bias,
        mse=_mse(products, moments, bias, parts.variance),
        cosine=pointing.cosine,
        bias_factor=pointing.bias_factor,
        noise_factor=pointing.noise_factor,
        alignment=pointing.alignment,
    )
    return found if products.unit == 1.0 else _normalised(found)


def _normalised(found: GradientEstimates) -> GradientEstimates:
    """Mark what normalised advantages make approximate: their divisor varies too.

    The intervals take it as known, and so are wider than need be.
    """
    names = ("individual", "covariance", "variance", "mse")
    return replace(found, **{n: replace(getattr(found, n), approximate=True) for n in names})


def _mse(products: Products, moments: PoolMoments, bias: Estimate, variance: Estimate) -> Estimate:
    """Return E|G_B - G*|² = squared bias + variance."""
    if variance.value is None:
        return variance
    squared = moments.mean_sq - 2 * moments.along + moments.reference_sq
    return added(bias, variance, correlation(squared, moments.variance, products.chains))
