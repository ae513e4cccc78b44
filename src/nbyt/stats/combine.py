"""Combining estimates: intervals of a sum or a ratio from those of its parts, or of a function.

Zou and Donner's rule: each bound lies as far from the value as the parts' own bounds on that side,
their distances a and b added as errors are, √(a² + b² + 2rab) with r the correlation of the parts.
It keeps the lopsided shape that each part's interval has.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from nbyt.stats.estimate import Estimate


def added(first: Estimate, second: Estimate, correlation: float) -> Estimate:
    """The sum of two estimates from the same chains."""
    a, b = _known(first), _known(second)
    value = a[0] + b[0]
    low = value - _length(a[0] - a[1], b[0] - b[1], correlation)
    high = value + _length(a[2] - a[0], b[2] - b[0], correlation)
    return _joined(value, low, high, first, second)


def divided(first: Estimate, second: Estimate, correlation: float) -> Estimate:
    """The ratio of an estimate of either sign to a positive one, from the same chains.

    The bounds are those of the product with 1/second, so they never divide by what may be 0.
    """
    a, b = _known(first), _known(second)
    value = a[0] / b[0]
    shares = (1 - b[0] / b[2], b[0] / b[1] - 1)
    down, up = shares if a[0] >= 0 else shares[::-1]
    low = value - _length(a[0] - a[1], a[0] * down, -correlation) / b[0]
    high = value + _length(a[2] - a[0], a[0] * up, -correlation) / b[0]
    return _joined(value, low, high, first, second)


def mapped(estimate: Estimate, function: Callable[[float], float]) -> Estimate:
    """A rising or falling function of an estimate, with the same coverage."""
    ends = [None if end is None else function(end) for end in (estimate.low, estimate.high)]
    if None not in ends:
        ends.sort()
    value = None if estimate.value is None else function(estimate.value)
    return replace(estimate, value=value, low=ends[0], high=ends[1])


def _length(first: float, second: float, correlation: float) -> float:
    if math.isinf(first) or math.isinf(second):
        return math.inf
    return math.sqrt(max(first**2 + second**2 + 2 * correlation * first * second, 0.0))


def _known(estimate: Estimate) -> tuple[float, float, float]:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        raise ValueError(f"an undetermined estimate has nothing to combine: {estimate}")
    return estimate.value, estimate.low, estimate.high


def _joined(value: float, low: float, high: float, first: Estimate, second: Estimate) -> Estimate:
    rough = first.approximate or second.approximate
    replicates = min(first.replicates, second.replicates)
    return Estimate(value, low, high, replicates, first.reason or second.reason, rough)
