"""The penalty of a sampler: the variance of its mini-batches over that of shuffled ones."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.jackknife import positive_ratio
from nbyt.stats.samples import leave_one_out
from nbyt.stats.variance import NO_VARIANCE


class Drawn(NamedTuple):
    """Mini-batches of k independent batches: products of their means, and their mean |G_mb|².

    products: inner products of the means of G_mb, batch by batch.
    """

    products: Float[np.ndarray, "k k"]
    square: Float[np.ndarray, " k"]


def penalty(sampler: Drawn, shuffled: Drawn) -> Estimate:
    """Var(G_mb) of one way to draw over that of another, from the same batches.

    Var(G_mb) = E|G_mb|² - |E G_mb|², the second by products of different batches. So a sampler
    that prefers some samples is measured right too: its mean need not be that of the batch.
    """
    batches = len(sampler.square)
    samples = leave_one_out(batches)
    above, below = (
        samples.mean(one.square[None]) - samples.mean_of_pairs(one.products[None])
        for one in (sampler, shuffled)
    )
    if above[0] <= 0 or below[0] <= 0:
        return undetermined(NO_VARIANCE, batches)
    return positive_ratio(above / below, batches)
