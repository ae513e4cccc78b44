"""The gate: whether hits of 95 % intervals are as many as a fair coin of 95 % would give."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy import stats

LEVEL = 0.95
TAIL = 0.0005
NARROW, WIDE = 0.8, 1.25
# Truth and estimate are rounded differently; intervals are thousands of times wider than this.
_ROUNDING = 1e-6

# Fields that live on a log scale, those that the truth keeps in [-1, 1], and what each is kept in.
POSITIVE = ("individual", "variance", "ess_ratio")
BOUNDED = ("cosine", "bias_factor", "alignment")
RANGES = {**dict.fromkeys(BOUNDED, (-1.0, 1.0)), "noise_factor": (0.0, 1.0)}
EVERYTHING = (-math.inf, math.inf)


@dataclass(frozen=True)
class Interval:
    """An interval as printed; `value` may be missing where the bounds are not."""

    value: float | None
    low: float | None
    high: float | None
    approximate: bool = False

    def determined(self, field: str) -> bool:
        """Whether it says anything: bounds that leave out some of what is possible."""
        if self.low is None or self.high is None:
            return False
        least, most = RANGES.get(field, EVERYTHING)
        return self.low > least or self.high < most

    def holds(self, truth: float) -> bool:
        """Whether the truth lies in it."""
        assert self.low is not None and self.high is not None
        slack = _ROUNDING * abs(truth)
        return self.low - slack <= truth <= self.high + slack

    def scaled(self, factor: float, field: str) -> "Interval":
        """The same with both ends `factor` times as far from the value.

        On the log scale for positive fields. An end at infinity, or at the end of the field's
        range, stays: there the interval was cut and does not show how far it went.
        """
        assert self.low is not None and self.high is not None
        value = self.value
        if value is None or not self.low <= value <= self.high:
            value = (self.low + self.high) / 2
        ends = [_moved(value, end, factor, field) for end in (self.low, self.high)]
        return Interval(self.value, ends[0], ends[1], self.approximate)


def _moved(value: float, end: float, factor: float, field: str) -> float:
    if not math.isfinite(end) or not math.isfinite(value):
        return end
    if field.removeprefix("printed_") in POSITIVE and value > 0 and end > 0:
        return value * math.exp(factor * math.log(end / value))
    least, most = RANGES.get(field, EVERYTHING)
    moved = max(least, min(most, value + factor * (end - value)))
    return moved if least < end < most else end


def limits(count: int) -> tuple[int, int]:
    """The fewest and the most hits that pass: the .05 % and 99.95 % points of the binomial."""
    law = stats.binom(count, LEVEL)
    return int(law.ppf(TAIL)), int(law.ppf(1 - TAIL))


def passes(hits: int, count: int) -> bool:
    """Whether the gate lets so many hits through."""
    low, high = limits(count)
    return low <= hits <= high


def judge(intervals: Sequence[Interval], truth: float, field: str) -> dict[str, Any]:
    """What the gate says of one field's intervals from independent pools.

    coverage and verdict are those of the intervals that are printed; an interval that is not
    there is everything possible and cannot miss, so `overall` counts it as a hit.
    """
    there = [one for one in intervals if one.determined(field)]
    pools, count = len(intervals), len(there)
    absent = pools - count
    hits = sum(one.holds(truth) for one in there)
    narrow, wide = (
        sum(one.scaled(factor, field).holds(truth) for one in there) for factor in (NARROW, WIDE)
    )
    above = sum(one.low is not None and one.low > truth for one in there if not one.holds(truth))
    return {
        "truth": truth,
        "pools": pools,
        "determined": count,
        "hits": hits,
        "above": above,
        "coverage": hits / count if count else None,
        "overall": (hits + absent) / pools,
        "undetermined": absent / pools,
        "flagged": sum(one.approximate for one in there) / count if count else None,
        "passes": passes(hits, count) if count else None,
        "overall_low": hits + absent < limits(pools)[0],
        "narrow": {"hits": narrow, "rejected": _rejects(narrow, count)},
        "wide": {"hits": wide, "rejected": _rejects(wide, count)},
    }


def _rejects(hits: int, count: int) -> bool | None:
    return not passes(hits, count) if count else None
