"""Numbers for narrow columns: a common power of ten, and no digit that the interval denies."""

import math
from typing import Any

from nbyt.stats.digits import rounded

Number = dict[str, Any]  # {"value", "low", "high"} and perhaps "reason", "approximate"

_LONGEST = 5
_SMALL = 0.1


def power_of_ten(numbers: list[Number]) -> int:
    """The power to divide a column by; 0 where its numbers read well as they are."""
    sizes = [abs(n["value"]) for n in numbers if n["value"]]
    if not sizes:
        return 0
    exponent = math.floor(math.log10(max(sizes)))
    return 0 if -2 <= exponent <= 2 else exponent


def cell(number: Number, power: int = 0) -> str:
    """Value and interval, such as .31 [.27 .36]; a dash where there is no value."""
    if number["value"] is None:
        return "-"
    bounds = [number[name] for name in ("value", "low", "high")]
    scaled = [None if x is None else x / 10.0**power for x in bounds]
    decimals = _decimals(scaled)
    value, low, high = ("?" if x is None else _figure(x, decimals) for x in scaled)
    return f"{value} [{low} {high}]"


def both(number: Number) -> str:
    """Value and interval in three significant digits, or that there are none."""
    if number["value"] is None:
        return "undetermined"
    mark = "~" if number.get("approximate") else ""
    low, high = ("?" if number[x] is None else f"{number[x]:.3g}" for x in ("low", "high"))
    return f"{mark}{number['value']:.3g} [{low}, {high}]"


def _figure(x: float, decimals: int) -> str:
    """The number with so many decimals, or with an exponent where that would take long."""
    plain = rounded(x, decimals)
    if plain.lstrip("-").startswith("0."):
        plain = plain.replace("0.", ".", 1)
    if len(plain) <= _LONGEST:
        return plain
    return f"{x:.0e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _decimals(numbers: list[float | None]) -> int:
    """Decimals that leave two digits of the interval's width; a third only for small numbers."""
    sizes = [abs(x) for x in numbers if x is not None]
    _, low, high = numbers
    width = 0.0 if low is None or high is None else high - low
    size = width or max(sizes)
    if size <= 0:
        return 1
    most = 3 if max(sizes) < _SMALL else 2
    return max(0, min(most, 1 - math.floor(math.log10(size))))
