"""Summary of one gradient of one layout: the ten numbers that every report shows."""

import math
from dataclasses import dataclass, fields, replace

from nbyt.stats.alignment import direction, noise_factor
from nbyt.stats.combine import added
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import correlation, leave_one_out
from nbyt.stats.products import PoolMoments, Products, moments_of
from nbyt.stats.variance import ZERO, bias_sq, decompose, is_zero

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
        """The form that JSON output promises."""
        return {field.name: getattr(self, field.name).as_dict() for field in fields(self)}


def describe_batch(
    products: Products, units: int | float, *, rough: bool = False
) -> BatchEstimates:
    """The estimates of a batch of so many units, some or all of which gave the products.

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
    return replace(found, **{f.name: _roughly(getattr(found, f.name)) for f in fields(found)})


def noise_scale(noise: Estimate, batch: int | float) -> Estimate:
    """B (1/f - 1) for the noise factor f of a batch of B: noise and signal are equal at f = 1/2."""
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


def _roughly(estimate: Estimate) -> Estimate:
    return replace(estimate, approximate=True)


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
        """The form that JSON output promises."""
        return {field.name: getattr(self, field.name).as_dict() for field in fields(self)}


def describe(products: Products, envs: int) -> GradientEstimates:
    """Every estimate of the gradient of N envs, T being that of the products.

    N may be larger than the number of chains: Var(G_B) = V(T)/N for every N.
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
    """With normalised advantages: what they were divided by rises and falls with the variance.

    The intervals take it as known, and so are wider than need be.
    """
    names = ("individual", "covariance", "variance", "mse")
    return replace(found, **{n: replace(getattr(found, n), approximate=True) for n in names})


def _mse(products: Products, moments: PoolMoments, bias: Estimate, variance: Estimate) -> Estimate:
    """E|G_B - G*|² = squared bias + variance."""
    if variance.value is None:
        return variance
    squared = moments.mean_sq - 2 * moments.along + moments.reference_sq
    return added(bias, variance, correlation(squared, moments.variance, products.chains))
