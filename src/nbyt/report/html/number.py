"""Numbers of a study: with an interval, exact, or bare."""

import math
from typing import Any

from nbyt.report.html import quantity
from nbyt.report.html.element import Markup, tag

Number = dict[str, Any]  # {"value", "low", "high"} and perhaps "reason", "approximate"

_LARGE = 1e6


def has_value(number: Number) -> bool:
    """Whether there is something to draw."""
    value = number.get("value")
    return isinstance(value, (int, float)) and math.isfinite(value)


def has_interval(number: Number) -> bool:
    """Whether there is an interval that has a width."""
    return quantity.known(number) and number["low"] < number["high"]


def words(number: Number) -> str:
    """Value and interval; the value alone where it is exact or has no interval."""
    if not has_value(number) or _has_ends(number):
        return quantity.words(number)
    return _mark(number) + short(number["value"])


def shown(number: Number) -> Markup:
    """The same as HTML; what is exact says so."""
    if not has_value(number) or _has_ends(number):
        return quantity.shown(number)
    exact = quantity.known(number)
    note = tag("span", "exact" if exact else "no interval", class_="interval")
    return tag("span", f"{_mark(number)}{short(number['value'])} ", note, class_="number")


def short(value: float, digits: int = 4) -> str:
    """So many significant digits; a whole number below a million has all of its own."""
    whole = 10**digits <= abs(value) < _LARGE
    text = f"{value:.0f}" if whole else f"{value:.{digits}g}"
    return text.replace("-", "\u2212").replace("e+0", "e").replace("e\u22120", "e\u2212")


def _has_ends(number: Number) -> bool:
    """Whether at least one end of an interval is known, and it is not the value itself."""
    ends = [number.get("low"), number.get("high")]
    return ends != [None, None] and ends != [number.get("value")] * 2


def _mark(number: Number) -> str:
    return "≈\u202f" if number.get("approximate") else ""
