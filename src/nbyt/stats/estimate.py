"""Estimate: a number with its 95 % interval, or the reason why there is none."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import special

_DUST = 1e-12  # of the last decimal: what is smaller is the rounding of floats, and is 0


def rounded(x: float, decimals: int) -> str:
    """The number with so many decimals, or with two digits of its own where it would show none.

    The decimals follow from the width of an interval. A number that is small beside that width
    would print as 0 otherwise, which is another number.
    """
    unit = 10.0**-decimals
    if unit * _DUST < abs(x) < unit:
        return f"{x:.2g}"
    return f"{round(x, decimals) + 0.0:.{decimals}f}"  # -0.0 + 0.0 is 0.0


LEVEL = 0.95
UNBOUNDED = "the interval is unbounded"


@dataclass(frozen=True)
class Estimate:
    """A value, the bounds of its 95 % interval, and how many independent replicates gave it.

    An unbiased estimate of a square can be negative, and one of a cosine above 1: values are not
    clipped, except for a noise factor, which is a share. `None` stands for what cannot be
    determined; `reason` then says why. `approximate` marks intervals that are known to cover the
    truth more or less often than 95 % of the time.
    """

    value: float | None
    low: float | None
    high: float | None
    replicates: int
    reason: str = ""
    approximate: bool = False

    def as_dict(self) -> dict[str, float | str | bool | None]:
        """The form that JSON output promises for every measured number; infinity becomes null."""
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

    def __str__(self) -> str:
        if self.value is None:
            return f"undetermined ({self.reason})"
        if self.low is None or self.high is None:
            return f"{self.value:.3g} (no interval: {self.reason})"
        digits = _digits(self.high - self.low, self.value)
        mark = "~" if self.approximate else ""
        value, low, high = (rounded(x, digits) for x in (self.value, self.low, self.high))
        return f"{mark}{value} [{low}, {high}]"


def undetermined(reason: str, replicates: int) -> Estimate:
    """No value and no bounds, with the reason."""
    return Estimate(None, None, None, replicates, reason)


def mean(values: Float[np.ndarray, " n"]) -> Estimate:
    """The mean of independent values, with Student's t interval.

    One value alone has no interval: its bounds are infinite.
    """
    values = np.asarray(values, float)
    n, centre = len(values), float(values.mean())
    if n < 2:
        return Estimate(centre, -math.inf, math.inf, n, "one value alone has no interval")
    quantile = float(special.stdtrit(n - 1, 0.5 + LEVEL / 2))
    half = quantile * float(values.std(ddof=1)) / math.sqrt(n)
    return Estimate(centre, centre - half, centre + half, n)


def _digits(width: float, value: float) -> int:
    """Decimals that the interval's width justifies: two digits of the width."""
    scale = width if 0 < width < math.inf else abs(value)
    if scale == 0 or not math.isfinite(scale):
        return 1
    return max(0, min(12, 1 - math.floor(math.log10(scale))))
