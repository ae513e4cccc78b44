"""Numbers for narrow columns: a common power of ten, and no digit that the interval denies."""

import math
from typing import Any

Number = dict[str, Any]  # {"value", "low", "high"} and perhaps "reason", "approximate"

_MOST_DECIMALS = 3


def power_of_ten(numbers: list[Number]) -> int:
    """The power to divide a column by; 0 where its numbers read well as they are."""
    sizes = [abs(n["value"]) for n in numbers if n["value"]]
    if not sizes:
        return 0
    exponent = math.floor(math.log10(max(sizes)))
    return 0 if -2 <= exponent <= 2 else exponent


def cell(number: Number, power: int = 0) -> str:
    """Value and interval, such as 0.31 [0.27, 0.36]; a dash where there is no value."""
    if number["value"] is None:
        return "-"
    bounds = [number[name] for name in ("value", "low", "high")]
    scaled = [None if x is None else x / 10.0**power for x in bounds]
    decimals = _decimals(scaled)
    value, low, high = ("?" if x is None else f"{x:.{decimals}f}" for x in scaled)
    mark = "~" if number.get("approximate") else ""
    return f"{mark}{value} [{low}, {high}]"


def both(number: Number) -> str:
    """Value and interval in three significant digits, or why there are none."""
    if number["value"] is None:
        return f"undetermined ({number.get('reason', 'no reason given')})"
    mark = "~" if number.get("approximate") else ""
    low, high = ("?" if number[x] is None else f"{number[x]:.3g}" for x in ("low", "high"))
    return f"{mark}{number['value']:.3g} [{low}, {high}]"


def _decimals(numbers: list[float | None]) -> int:
    """Decimals that leave two digits of the interval's width, or of the value where it has none."""
    value, low, high = numbers
    width = 0.0 if low is None or high is None else high - low
    size = width or abs(value or 0.0)
    if size <= 0:
        return 1
    return max(0, min(_MOST_DECIMALS, 1 - math.floor(math.log10(size))))
