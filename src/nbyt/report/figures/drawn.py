"""What all drawings share: colours and symbols of series, colour scales, keys and remarks."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nbyt.report.figures.parts import spread
from nbyt.report.html.element import Markup, bullets, tag
from nbyt.report.html.key import key
from nbyt.report.numbers import has_interval, short
from nbyt.results.study import Heatmap, HeightSeries, NumberSeries, PointSeries
from nbyt.results.values import Data, Number

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
    """Return colour, symbol and dash of the series at this place of its figure."""
    turn = place % len(_COLOURS)
    return {
        "colour": _COLOURS[turn],
        "symbol": _SYMBOLS[turn],
        "dash": _DASHES[turn],
        "size": 8 if _SYMBOLS[turn] in ("star", "triangle-up") else 7,
    }


def pattern(place: int) -> tuple[str, str]:
    """Return the pattern of the bars at this place, for Plotly and for a key."""
    return _PATTERNS[place % len(_PATTERNS)]


def named(
    some: Sequence[NumberSeries | PointSeries | HeightSeries], sample: Callable[[int], Sample]
) -> Markup | None:
    """Build the key of these series; None without names. sample: of the series at a place."""
    names = [series.name for series in some]
    if not any(names):
        return None
    return key(*((look(k)["colour"], *sample(k), name) for k, name in enumerate(names)))


@dataclass(frozen=True)
class AxisScale:
    """A scale of colours from low to high; two: one colour for each sign, with 0 in the middle."""

    title: str
    low: float
    high: float

    @property
    def two(self) -> bool:
        """Return True if 0 is in the middle."""
        return self.low == -self.high

    def depth(self, value: float) -> float:
        """Return how far a value is from the scale's pale end, between 0 and 1."""
        share = abs(value) / self.high if self.two else (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)

    def sample(self, look: str) -> Markup:
        """Build a strip of colour between the ends, with the title. look: of cells, or written."""
        strip = tag("i", class_=f"{look} {'two' if self.two else 'one'}")
        ends = [tag("span", short(x)) for x in (self.low, self.high)]
        title = tag("span", self.title, class_="muted")
        return tag("p", ends[0], strip, ends[1], title, class_="scale")


def scale_of(frames: Sequence[Heatmap]) -> AxisScale:
    """Return the scale with the given ends, or with those of all values of all frames."""
    values = [x for one in frames for row in one.values for x in row if x is not None]
    lows = [one.scale.low for one in frames if one.scale.low is not None]
    highs = [one.scale.high for one in frames if one.scale.high is not None]
    low = min(lows) if lows else min(values, default=0.0)
    high = max(highs) if highs else max(values, default=1.0)
    if low < 0 < high and not lows and not highs:
        low, high = -max(-low, high), max(-low, high)
    return AxisScale(frames[0].scale.title, low, high if high > low else low + 1.0)


def empty_cells(one: Heatmap) -> Markup | None:
    """Say that cells without a value are undetermined, if there are any."""
    blank = any(x is None for row in one.values for x in row)
    return remarks([], ["Empty cells are undetermined."] * blank)


_MANY = 12  # places that are too many to be named one by one


@dataclass(frozen=True)
class Drawn:
    """One figure as charts, one for each frame; each with a key and remarks, or None.

    widest: pixels that it may be wide, or None for all there are. least: pixels that it needs;
    where there are fewer it scrolls by itself.
    """

    charts: list[Data]
    keys: Sequence[Markup | None]
    remarks: Sequence[Markup | None]
    widest: int | None = None
    least: int | None = None


def remarks(missing: Iterable[tuple[str, str, str]], others: Sequence[str] = ()) -> Markup | None:
    """List what is not drawn, and what else a reader should know of a chart.

    missing: name, place and reason of each; no place for all of that name.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for name, place, reason in missing:
        found.setdefault((name, reason), []).append(place)
    lines = [
        f"{' at '.join(filter(None, (name, _listed(list(filter(None, places))))))}: {reason}"
        for (name, reason), places in found.items()
    ]
    if not lines and not others:
        return None
    said = [tag("div", one) for one in others]
    return tag("div", "Not drawn:" if lines else None, bullets(lines), *said, class_="missing")


def _listed(places: Sequence[str]) -> str:
    """List the places, or count them from the first to the last."""
    if len(places) <= _MANY:
        return ", ".join(places)
    return f"{len(places)} places from {places[0]} to {places[-1]}"


def error_bars(numbers: Sequence[Number], colour: str) -> Data:
    """Build bars for the intervals of a trace; empty if there is no interval at all."""
    if not any(has_interval(number) for number in numbers):
        return {}
    return {"error_y": spread(numbers, colour)}
