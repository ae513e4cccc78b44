"""Moments: the few averages that every statistic of a gradient is made of."""

from dataclasses import dataclass

import numpy as np

from nbyt.stats.products import Products
from nbyt.stats.samples import Replicates, Samples


@dataclass(frozen=True)
class PoolMoments:
    """Averages of one gradient, each an array over samples of the chains.

    Squares of means are means over pairs of different chains, so each moment is unbiased:
    correlation between the fragments of one chain does not enter.
    """

    square: Replicates
    """E|G|², over the fragments of a chain and over chains."""
    mean_sq: Replicates
    """u = |E G|²."""
    along: Replicates
    """x = G* · E G."""
    reference_sq: Replicates
    """y = |G*|²."""

    @property
    def variance(self) -> Replicates:
        """V(T) = tr Cov(G) of one env: E|G|² - |E G|². N envs have V(T) / N."""
        return self.square - self.mean_sq

    def second_moment(self, envs: int | float) -> Replicates:
        """z = |E G|² + V(T) / N: the mean squared length of the gradient of N envs."""
        return self.mean_sq + self.variance / envs


def moments_of(products: Products, samples: Samples) -> PoolMoments:
    """The moments of a gradient in every sample."""
    return PoolMoments(
        square=samples.mean(products.square),
        mean_sq=samples.mean_of_pairs(products.means),
        along=samples.mean_of_pairs(products.cross),
        reference_sq=samples.mean_of_pairs(products.reference),
    )


def step_variance(products: Products, samples: Samples) -> Replicates:
    """Mean over steps of tr Var(g_t), in samples that leave out at most one chain.

    E|g_t|² less the mean product of different chains at the same time. A chain left out takes its
    products with it twice, as chain and as partner: hence twice the sum, less the total.
    """
    weights = 2 * samples.chains - 1
    pairs = np.asarray(products.step_pairs, float) @ weights.T
    square = samples.mean(products.step_square)
    return square - samples.over_groups(pairs / (weights @ products.partners))
