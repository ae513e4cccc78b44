"""Looks of series: each differs from the others in colour and in symbol, dash or pattern."""

from collections.abc import Callable, Sequence

from nbyt.report.page.element import Markup
from nbyt.report.page.key import key
from nbyt.results.values import Data

Sample = tuple[str, str | None]  # symbol and dash, as a key takes them

_COLOURS = ("blue", "vermillion", "green", "purple", "amber", "ink", "sky", "muted")
_SYMBOLS = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "circle-open",
    "x",
    "star",
    "square-open",
)
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "solid", "dash", "dot")
# Plotly's pattern of a bar, and its name in a key.
_PATTERNS = (("", "bar"), ("/", "hatched"), (".", "dotted"), ("x", "crossed"), ("-", "striped"))


def look(place: int) -> Data:
    """The look of the series at this place of its figure."""
    turn = place % len(_COLOURS)
    return {
        "colour": _COLOURS[turn],
        "symbol": _SYMBOLS[turn],
        "dash": _DASHES[turn],
        "size": 8 if _SYMBOLS[turn] in ("star", "triangle-up") else 7,
    }


def pattern(place: int) -> tuple[str, str]:
    """The pattern of the bars at this place, for Plotly and for a key."""
    return _PATTERNS[place % len(_PATTERNS)]


def named(some: Sequence[Data], sample: Callable[[int], Sample]) -> Markup | None:
    """The key of these series, or none if they have no names. sample: of the series at a place."""
    names = [series["name"] for series in some]
    if not any(names):
        return None
    return key(*((look(k)["colour"], *sample(k), name) for k, name in enumerate(names)))
