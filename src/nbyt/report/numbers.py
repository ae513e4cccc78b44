"""Numbers for narrow columns: a common power of ten, and no digit that the interval denies."""

import math
from collections.abc import Sequence
from typing import Any

from nbyt.stats.estimate import rounded

WIDTH = 80
Number = dict[str, Any]  # {"value", "low", "high"} and perhaps "reason", "approximate"


def fitted(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, padding: int = 1
) -> list[list[str]]:
    """The cells, with each interval under its value where 80 columns would not hold the table.

    heads: the columns' titles; a column without one holds remarks, which wrap between words.
    padding: what separates two columns.
    """
    columns = [[head, *cells] for head, cells in zip(heads, zip(*rows, strict=True), strict=True)]
    widths = [_width(column, wraps=not column[0]) + padding for column in columns]
    fits = sum(widths) <= WIDTH
    return [[cell if fits else cell.replace(" [", "\n[") for cell in row] for row in rows]


def longest_word(cells: Sequence[str]) -> int:
    """The width that cells need so as to wrap between words only."""
    return _width(cells, wraps=True)


def _width(cells: Sequence[str], *, wraps: bool) -> int:
    pieces = [piece for one in cells for piece in (one.split() if wraps else one.splitlines())]
    return max(map(len, pieces), default=0)


def said(number: Number) -> str:
    """A value with its interval, such as .31 [.27, .36]."""
    if number["value"] is None:
        return "undetermined"
    low, high = ("?" if number[x] is None else _words_figure(number[x]) for x in ("low", "high"))
    mark = "about " if number.get("approximate") else ""
    return f"{mark}{_words_figure(number['value'])} [{low}, {high}]"


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


def _words_figure(x: float) -> str:
    plain = f"{x:.2f}" if abs(x) >= 0.095 or x == 0 else f"{x:.2g}"
    return plain.replace("0.", ".", 1) if plain.lstrip("-").startswith("0.") else plain


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
