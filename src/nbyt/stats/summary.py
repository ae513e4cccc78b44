"""Summary of one gradient of one layout: the ten numbers that every report shows."""

from dataclasses import dataclass, fields, replace

from nbyt.stats.alignment import direction
from nbyt.stats.bias import bias_sq
from nbyt.stats.combine import added
from nbyt.stats.estimate import Estimate
from nbyt.stats.jackknife import correlation
from nbyt.stats.moments import PoolMoments, moments_of
from nbyt.stats.products import Products
from nbyt.stats.samples import leave_one_out
from nbyt.stats.variance import decompose


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
