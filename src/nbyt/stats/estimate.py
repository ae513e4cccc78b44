"""Estimate: a number with its 95 % interval."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import special

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value, the bounds of its 95 % interval, and how many independent replicates gave it."""

    value: float
    low: float
    high: float
    replicates: int

    def as_dict(self) -> dict[str, float]:
        """The form that JSON output promises for every measured number."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        digits = _digits(self.high - self.low, self.value)
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def mean(values: Float[np.ndarray, " n"]) -> Estimate:
    """The mean of independent values, with Student's t interval.

    One value alone has no interval: its bounds are infinite.
    """
    values = np.asarray(values, float)
    n, centre = len(values), float(values.mean())
    if n < 2:
        return Estimate(centre, -math.inf, math.inf, n)
    quantile = float(special.stdtrit(n - 1, 0.5 + LEVEL / 2))
    half = quantile * float(values.std(ddof=1)) / math.sqrt(n)
    return Estimate(centre, centre - half, centre + half, n)


def _digits(width: float, value: float) -> int:
    """Decimals that the interval's width justifies: two digits of the width."""
    scale = width if 0 < width < math.inf else abs(value)
    if scale == 0 or not math.isfinite(scale):
        return 1
    return max(0, min(12, 1 - math.floor(math.log10(scale))))
