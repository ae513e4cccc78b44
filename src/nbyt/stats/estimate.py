"""Estimate: a number with its 95 % interval, or the reason why there is none.

Intervals of a sum or a ratio follow from those of its parts by Zou and Donner's rule: each bound
lies as far from the value as the parts' own bounds on that side, their distances a and b added as
errors are, √(a² + b² + 2rab) with r the correlation of the parts. It keeps the lopsided shape that
each part's interval has.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from msgspec import convert
from scipy import special

from nbyt.results.values import Estimate as EstimateRecord

_DUST = 1e-12  # of the last decimal: what is smaller is the rounding of floats, and is 0


def rounded(x: float, decimals: int) -> str:
    """Round to so many decimals, or to two digits where that would show none.

    The decimals follow from the width of an interval. A number that is small beside that width
    would print as 0 otherwise, which is another number.
    """
    unit = 10.0**-decimals
    if unit * _DUST < abs(x) < unit:
        return f"{x:.2g}"
    return f"{round(x, decimals) + 0.0:.{decimals}f}"  # -0.0 + 0.0 is 0.0


def printable(value: float, low: float | None, high: float | None) -> float:
    """Return the value to print: a cosine whose estimate lies beyond 1 or -1 is printed as that.

    Its interval ends there; that of a number which may be larger ends there by accident only.
    """
    if high == 1.0 and value > 1.0:
        return 1.0
    return -1.0 if low == -1.0 and value < -1.0 else value


LEVEL = 0.95
UNBOUNDED = "the interval is unbounded"


@dataclass(frozen=True)
class Estimate:
    """A value, the bounds of its 95 % interval, and how many independent replicates gave it.

    An unbiased estimate of a square can be negative, and one of a cosine above 1: values are not
    clipped, except for a noise factor, which is a share; what is printed of a cosine ends at 1.

    Parameters
    ----------
    value, low, high
        The estimate and its bounds; None for what cannot be determined.
    replicates
        Independent chains, seeds or blocks that it comes from.
    reason
        Why there is no value, or no interval.
    approximate
        Whether the interval is known to cover the truth more or less often than 95 % of the time.

    Examples
    --------
    >>> print(Estimate(0.3127, 0.27, 0.36, replicates=32))
    0.313 [0.270, 0.360]
    >>> Estimate(None, None, None, 3, "the gradient is zero").as_dict()
    {'value': None, 'low': None, 'high': None, 'reason': 'the gradient is zero'}
    """

    value: float | None
    low: float | None
    high: float | None
    replicates: int
    reason: str = ""
    approximate: bool = False

    def as_dict(self) -> dict[str, float | str | bool | None]:
        """Return the JSON form of every measured number; infinity becomes null."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        found: dict[str, float | str | bool | None] = {
            name: number if number is not None and math.isfinite(number) else None
            for name, number in numbers.items()
        }
        reason = self.reason or (UNBOUNDED if None in found.values() else "")
        if reason:
            found["reason"] = reason
        if self.approximate:
            found["approximate"] = True
        return found

    @property
    def record(self) -> EstimateRecord:
        """Return the number as it crosses rooms and is kept in files."""
        return convert(self.as_dict(), EstimateRecord)

    def __str__(self) -> str:
        if self.value is None:
            return f"undetermined ({self.reason})"
        if self.low is None or self.high is None:
            return f"{self.value:.3g} (no interval: {self.reason})"
        digits = _digits(self.high - self.low, self.value)
        mark = "~" if self.approximate else ""
        ends = (printable(self.value, self.low, self.high), self.low, self.high)
        value, low, high = (rounded(x, digits) for x in ends)
        return f"{mark}{value} [{low}, {high}]"


def undetermined(reason: str, replicates: int) -> Estimate:
    """Return an estimate without value and bounds, with the reason."""
    return Estimate(None, None, None, replicates, reason)


def mean(values: Float[np.ndarray, " n"]) -> Estimate:
    """Estimate the mean of independent values, with Student's t interval.

    Parameters
    ----------
    values
        One number for each replicate.

    Returns
    -------
    Estimate
        One value alone has no interval: its bounds are infinite.

    Examples
    --------
    >>> import numpy as np
    >>> print(mean(np.array([1.0, 2.0, 3.0, 4.0])))
    2.5 [0.4, 4.6]
    """
    values = np.asarray(values, float)
    n, centre = len(values), float(values.mean())
    if n < 2:
        return Estimate(centre, -math.inf, math.inf, n, "one value alone has no interval")
    quantile = float(special.stdtrit(n - 1, 0.5 + LEVEL / 2))
    half = quantile * float(values.std(ddof=1)) / math.sqrt(n)
    return Estimate(centre, centre - half, centre + half, n)


def _digits(width: float, value: float) -> int:
    """Return decimals that the interval's width justifies: two digits of the width."""
    scale = width if 0 < width < math.inf else abs(value)
    if scale == 0 or not math.isfinite(scale):
        return 1
    return max(0, min(12, 1 - math.floor(math.log10(scale))))


def added(first: Estimate, second: Estimate, correlation: float) -> Estimate:
    """Add two estimates from the same chains."""
    a, b = _known(first), _known(second)
    value = a[0] + b[0]
    low = value - _length(a[0] - a[1], b[0] - b[1], correlation)
    high = value + _length(a[2] - a[0], b[2] - b[0], correlation)
    return _joined(value, low, high, first, second)


def divided(first: Estimate, second: Estimate, correlation: float) -> Estimate:
    """Divide an estimate of either sign by a positive one, from the same chains.

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
    """Apply a rising or falling function to an estimate, with the same coverage."""
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
