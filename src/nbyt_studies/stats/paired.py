"""Two layouts on the same chains: how their variances, its terms and their biases compare.

Ratios and differences are taken in every sample of the chains, so what both layouts share of a
chain's luck drops out.
"""

import numpy as np

from nbyt.stats.comparison import Candidate, common_samples
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import Replicates, Samples, positive_ratio, real
from nbyt.stats.products import PoolMoments, moments_of, step_variance
from nbyt.stats.variance import decompose

NO_DIVISOR = "what it would be divided by is not clearly above 0"


def variance_ratio(first: Candidate, second: Candidate) -> Estimate:
    """Var(G_B) of the first layout over that of the second."""
    samples = common_samples([first, second])
    return _over(_variance(first, samples), _variance(second, samples), first)


def individual_ratio(first: Candidate, second: Candidate) -> Estimate:
    """The individual term of the first layout over that of the second."""
    samples = common_samples([first, second])
    return _over(_individual(first, samples), _individual(second, samples), first)


def covariance_gap(first: Candidate, second: Candidate) -> Estimate:
    """The first layout's covariance term less the second's, over the sum of their variances."""
    samples = common_samples([first, second])
    whole = [_variance(one, samples) for one in (first, second)]
    terms = [
        own - _individual(one, samples) for own, one in zip(whole, (first, second), strict=True)
    ]
    return _share(terms[0] - terms[1], whole[0] + whole[1], first)


def covariance_share(one: Candidate) -> Estimate:
    """The covariance term as a share of the variance."""
    samples = common_samples([one])
    moments = moments_of(one.products, samples)
    return decompose(one.products, moments, samples, one.envs).covariance_share


def bias_gap(first: Candidate, second: Candidate) -> Estimate:
    """The first layout's squared bias less the second's, in units of |G*|²; rough by nature."""
    samples = common_samples([first, second])
    moments = [moments_of(one.products, samples) for one in (first, second)]
    gap = _bias(moments[0]) - _bias(moments[1])
    return _share(gap, moments[0].reference_sq, first, rough=True)


def relative_bias(one: Candidate) -> Estimate:
    """|E G - G*|² / |G*|²; rough by nature, and below 0 where the bias is lost in the noise."""
    moments = moments_of(one.products, common_samples([one]))
    return _share(_bias(moments), moments.reference_sq, one, rough=True)


def _variance(one: Candidate, samples: Samples) -> Replicates:
    return moments_of(one.products, samples).variance / one.envs


def _individual(one: Candidate, samples: Samples) -> Replicates:
    if one.products.steps == 1:
        return _variance(one, samples)
    return step_variance(one.products, samples) / (one.products.steps * one.envs)


def _bias(moments: PoolMoments) -> Replicates:
    return moments.mean_sq - 2 * moments.along + moments.reference_sq


def _over(top: Replicates, below: Replicates, one: Candidate) -> Estimate:
    chains = one.products.chains
    if not (np.all(top > 0) and np.all(below > 0)):
        return undetermined(NO_DIVISOR, chains)
    return positive_ratio(top / below, chains)


def _share(part: Replicates, whole: Replicates, one: Candidate, *, rough: bool = False) -> Estimate:
    chains = one.products.chains
    if not np.all(whole > 0):
        return undetermined(NO_DIVISOR, chains)
    found = real(part / whole, chains)
    if not rough:
        return found
    return Estimate(found.value, found.low, found.high, chains, approximate=True)
