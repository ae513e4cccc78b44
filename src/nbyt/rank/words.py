"""Numbers in sentences."""

from typing import Any

from nbyt.stats.digits import rounded

Number = dict[str, Any]  # {"value", "low", "high"} and perhaps "reason", "approximate"


def said(number: Number) -> str:
    """A value with its interval, such as .31 [.27, .36]."""
    if number["value"] is None:
        return "undetermined"
    low, high = ("?" if number[x] is None else _figure(number[x]) for x in ("low", "high"))
    mark = "about " if number.get("approximate") else ""
    return f"{mark}{_figure(number['value'])} [{low}, {high}]"


def percent(number: Number, whole: float = 1.0) -> str:
    """The same as a share of something, in per cent."""
    if number["value"] is None or not whole:
        return "an undetermined share"
    value, low, high = (
        "?" if number[x] is None else rounded(100 * number[x] / whole, 0)
        for x in ("value", "low", "high")
    )
    return f"{value} % [{low}, {high}]"


def named(layout: Any) -> str:
    """A layout as people say it, such as 64x32."""
    return f"{layout['envs']}x{layout['steps']}"


def listed(words: list[str]) -> str:
    """Words with commas, and an "and" before the last."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def surely(number: Number, *, above: float | None = None, below: float | None = None) -> bool:
    """Whether the whole interval is above, or below, a bound."""
    if above is not None:
        return number["low"] is not None and number["low"] > above
    return number["high"] is not None and below is not None and number["high"] < below


def _figure(x: float) -> str:
    plain = f"{x:.2f}" if abs(x) >= 0.095 or x == 0 else f"{x:.2g}"
    return plain.replace("0.", ".", 1) if plain.lstrip("-").startswith("0.") else plain
