"""Numbers of a study: exact ones, shortened lists, and ratios over independent runs."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import stats

from nbyt.stats.estimate import LEVEL, Estimate, added, mapped, mean, undetermined
from nbyt.stats.intervals import leave_one_out, ratio_set, within
from nbyt_studies.verdict import Number


def share(hits: int, count: int) -> Estimate:
    """So many of so many, with Clopper and Pearson's interval, which is never a point."""
    ends = stats.binomtest(hits, count).proportion_ci(LEVEL, method="exact")
    return Estimate(hits / count, float(ends.low), float(ends.high), count, approximate=True)


def share_difference(first: Estimate, second: Estimate) -> Estimate:
    """The first share less the second; the interval is on the safe side, more so for pairs."""
    return added(first, mapped(second, lambda value: -value), 0.0)


_LEAST = 3


def exact_number(value: float | None) -> Number:
    """A number that was calculated, not measured: its interval is itself."""
    number = None if value is None else float(value)
    return {"value": number, "low": number, "high": number}


def distance(number: Number, point: float) -> Number:
    """How far a number is from a point, on either side."""
    value, low, high = (number.get(name) for name in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return number
    ends = sorted((abs(low - point), abs(high - point)))
    nearest = 0.0 if low <= point <= high else ends[0]
    return {**number, "value": abs(value - point), "low": nearest, "high": ends[1]}


def shortened(values: Iterable[float | None], digits: int = 4) -> list[float | None]:
    """The values to so many significant digits; None where one is not finite."""
    return [
        float(f"{float(v):.{digits}g}") if v is not None and math.isfinite(v) else None
        for v in values
    ]


def mean_of(values: Iterable[float]) -> Estimate:
    """The mean of independent values, with Student's t interval."""
    return mean(np.array(list(values), float))


def typical_ratio(over: Sequence[float], under: Sequence[float]) -> Estimate:
    """The geometric mean of the ratios of independent pairs of positive numbers."""
    if min(*over, *under) <= 0:
        return undetermined("one of the numbers is not above 0", len(over))
    return mapped(mean(np.log(np.asarray(over, float) / np.asarray(under, float))), math.exp)


def ratio_of_means(over: Sequence[float], under: Sequence[float]) -> Estimate:
    """The mean of one over the mean of the other, from independent pairs; any sign (Fieller)."""
    count = len(over)
    if count < _LEAST:
        return undetermined(f"{count} pairs are too few for a ratio of means", count)
    samples = leave_one_out(count)
    top, bottom = (samples.mean(np.asarray(x, float)[None]) for x in (over, under))
    bounds = within(ratio_set(top, bottom, count), -math.inf, math.inf)
    if bottom[0] == 0 or bounds is None:
        return undetermined("the mean below is 0", count)
    return Estimate(float(top[0] / bottom[0]), *bounds, count, approximate=True)


def spread_of(values: Sequence[float]) -> Estimate:
    """The standard deviation of a sample; the interval holds for normal values (chi-square)."""
    count = len(values)
    if count < 2:
        return undetermined("one value alone has no spread", count)
    spread = float(np.std(values, ddof=1))
    ends = [stats.chi2.ppf(0.5 + sign * LEVEL / 2, count - 1) for sign in (1, -1)]
    low, high = (spread * math.sqrt((count - 1) / end) for end in ends)
    return Estimate(spread, low, high, count, approximate=True)


def spread_ratio(over: Sequence[float], under: Sequence[float]) -> Estimate:
    """The ratio of two samples' standard deviations; the interval holds for normal values (F)."""
    sizes = len(over), len(under)
    if min(sizes) < 2 or np.std(under) == 0:
        return undetermined("one of the samples has no spread", min(sizes))
    ratio = float(np.std(over, ddof=1) / np.std(under, ddof=1))
    ends = [stats.f.ppf(0.5 + sign * LEVEL / 2, sizes[0] - 1, sizes[1] - 1) for sign in (1, -1)]
    low, high = (ratio / math.sqrt(end) for end in ends)
    return Estimate(ratio, low, high, min(sizes), approximate=True)
