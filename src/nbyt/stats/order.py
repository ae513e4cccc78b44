"""The median, with an interval that asks nothing of the law."""

import numpy as np
from jaxtyping import Float
from scipy import stats

from nbyt.stats.estimate import LEVEL, Estimate, undetermined

_LEAST = 6
"""Values below which no two of them enclose the median 95 % of the time."""


def median(values: Float[np.ndarray, " n"]) -> Estimate:
    """The median of independent values, between two of them by the binomial law of their ranks."""
    ordered = np.sort(np.asarray(values, float))
    count = len(ordered)
    if count < _LEAST:
        return undetermined(f"{count} values are too few for a median's interval", count)
    below = int(stats.binom.ppf((1 - LEVEL) / 2, count, 0.5)) - 1
    low, high = max(below, 0), min(count - 1 - below, count - 1)
    return Estimate(float(np.median(ordered)), ordered[low], ordered[high], count)
