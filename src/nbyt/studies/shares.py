"""Shares of independent runs that did something, and differences of two such shares."""

from scipy import stats

from nbyt.stats.combine import added, mapped
from nbyt.stats.estimate import LEVEL, Estimate


def share(hits: int, count: int) -> Estimate:
    """So many of so many, with Clopper and Pearson's interval, which is never a point."""
    ends = stats.binomtest(hits, count).proportion_ci(LEVEL, method="exact")
    return Estimate(hits / count, float(ends.low), float(ends.high), count, approximate=True)


def share_difference(first: Estimate, second: Estimate) -> Estimate:
    """The first share less the second; the interval is on the safe side, more so for pairs."""
    return added(first, mapped(second, lambda value: -value), 0.0)
