"""Numbers with their intervals, as text and as HTML; what is undetermined says why."""

import math
from collections.abc import Iterable
from typing import Any

from nbyt.report.html.element import Markup, tag
from nbyt.stats.estimate import rounded

Number = dict[str, Any]  # {"value", "low", "high"} and perhaps "reason", "approximate"

_MOST_DECIMALS = 5
_LARGE = 1e6


def known(number: Number | None) -> bool:
    """Whether there is a value with both ends of its interval."""
    return number is not None and all(_is_finite(number.get(x)) for x in ("value", "low", "high"))


def words(number: Number, scale: float = 1.0, unit: str = "") -> str:
    """Value and interval, such as 0.31 [0.27, 0.36], or that it is undetermined and why."""
    if not _is_finite(number.get("value")):
        reason = number.get("reason")
        return f"undetermined: {reason}" if reason else "undetermined"
    value, low, high = _figures(number, scale)
    return f"{_mark(number)}{value}{unit} [{low}, {high}]"


def shown(number: Number, scale: float = 1.0, unit: str = "", *, mark: bool = True) -> Markup:
    """The same as HTML, the interval in a lighter tone."""
    if not _is_finite(number.get("value")):
        reason = number.get("reason") or "no reason given"
        return tag("span", "undetermined", class_="undetermined", title=reason)
    value, low, high = _figures(number, scale)
    interval = tag("span", f"[{low}, {high}]", class_="interval")
    return tag("span", f"{_mark(number) if mark else ''}{value}{unit} ", interval, class_="number")


def share(value: float | None) -> str:
    """A share that is counted, not estimated, in per cent."""
    if value is None or not math.isfinite(value):
        return "undetermined"
    if 0 < value < 0.01:
        return "< 1 %"
    return f"{100 * value:.0f} %"


def layout_name(layout: Any) -> str:
    """A layout as people say it, such as 64x32."""
    return f"{layout['envs']}x{layout['steps']}"


def layout_mark(layout: Any) -> Markup:
    """The same for tables: N × T that does not break."""
    return tag("span", f"{layout['envs']}\u202f×\u202f{layout['steps']}", class_="layout")


def reasons_of(numbers: Iterable[tuple[str, int, Number]]) -> Markup | None:
    """What is undetermined, at which T and why; each number comes with its name and its T."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, steps, number in numbers:
        if not known(number):
            reason = number.get("reason") or "no reason given"
            found.setdefault((name, reason), []).append(str(steps))
    if not found:
        return None
    lines = [
        tag("li", f"{name} at T = {', '.join(places)}: {reason}")
        for (name, reason), places in found.items()
    ]
    return tag("div", "Undetermined, so not drawn:", tag("ul", *lines), class_="missing")


def _figures(number: Number, scale: float) -> list[str]:
    """Value, low and high, with the decimals that leave two digits of the interval's width."""
    found = [number.get(name) for name in ("value", "low", "high")]
    scaled = [scale * x if x is not None and _is_finite(x) else None for x in found]
    size = max(abs(x) for x in scaled if x is not None)
    width = 0.0 if None in scaled else abs(scaled[2] - scaled[1])  # type: ignore[operator]
    decimals = 1 - math.floor(math.log10(width or size or 1.0))
    if decimals > _MOST_DECIMALS or size >= _LARGE:
        return ["?" if x is None else f"{x:.3g}" for x in scaled]
    texts = ("?" if x is None else rounded(x, max(0, decimals)) for x in scaled)
    return [text.replace("-", "\u2212") for text in texts]


def _mark(number: Number) -> str:
    return "≈\u202f" if number.get("approximate") else ""


def _is_finite(x: Any) -> bool:
    return isinstance(x, (int, float)) and math.isfinite(x)
