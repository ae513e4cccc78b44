"""Interleaved rounds, and the median of ratios taken within each round.

Machines wander by 10 to 20 % over minutes; contenders that run seconds apart see the same machine.
"""

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np
from scipy import stats

from nbyt.stats.estimate import LEVEL, Estimate


class Contender(Protocol):
    """Something that can be timed: `size` environment steps a unit."""

    size: int

    def go(self, units: int) -> float:
        """Seconds that the next `units` units took."""
        ...


def interleave(
    contenders: Mapping[str, Contender], *, rounds: int, seconds: float
) -> dict[str, list[float]]:
    """Environment steps per second of each contender in each round, about `seconds` a time."""
    units = {name: _units(contender, seconds) for name, contender in contenders.items()}
    speeds: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            took = contenders[name].go(units[name])
            speeds[name].append(units[name] * contenders[name].size / took)
    return speeds


def median(values: list[float]) -> Estimate:
    """The median, with the narrowest pair of order statistics that covers it 95 times in 100.

    Fewer than six values have no such pair: their bounds are infinite.
    """
    ordered, n = sorted(values), len(values)
    # The k-th smallest and k-th largest miss the true median with twice P(Binomial(n, 1/2) < k).
    deepest = max((k for k in range(1, n // 2 + 1) if _covers(k, n)), default=0)
    low, high = (-math.inf, math.inf) if not deepest else (ordered[deepest - 1], ordered[-deepest])
    return Estimate(float(np.median(ordered)), low, high, n)


def ratios(ours: list[float], theirs: list[float]) -> list[float]:
    """Our speed over theirs, round by round."""
    return [our / their for our, their in zip(ours, theirs, strict=True)]


def geometric_mean(rounds: list[list[float]]) -> list[float]:
    """Of several lists of ratios, one mean a round."""
    return [math.exp(float(np.mean(np.log(column)))) for column in zip(*rounds, strict=True)]


def _units(contender: Contender, seconds: float) -> int:
    units = 1
    while (took := contender.go(units)) < seconds / 4:
        units *= 2
    return max(1, round(units * seconds / took))


def _covers(k: int, n: int) -> bool:
    return 1 - 2 * float(stats.binom.cdf(k - 1, n, 0.5)) >= LEVEL
