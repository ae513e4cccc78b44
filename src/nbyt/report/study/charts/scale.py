"""The scale of a table of colours: from which value to which, and its sample above the cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from nbyt.report.page.element import Markup, tag
from nbyt.report.study.number import short
from nbyt.results.values import Data


@dataclass(frozen=True)
class AxisScale:
    """From low to high; two: one colour for each sign, with 0 in the middle."""

    title: str
    low: float
    high: float

    @property
    def two(self) -> bool:
        """Whether 0 is in the middle."""
        return self.low == -self.high

    def depth(self, value: float) -> float:
        """How far from the scale's pale end a value is, between 0 and 1."""
        start, end = (0.0, self.high) if self.two else (self.low, self.high)
        return min(max(abs(value - start) / (end - start), 0.0), 1.0)

    def sample(self, look: str) -> Markup:
        """A strip of colour between the ends, with the title. look: of cells, or written."""
        strip = tag("i", class_=f"{look} {'two' if self.two else 'one'}")
        ends = [tag("span", short(x)) for x in (self.low, self.high)]
        title = tag("span", self.title, class_="muted")
        return tag("p", ends[0], strip, ends[1], title, class_="scale")


def scale_of(frames: Sequence[Data]) -> AxisScale:
    """The ends that are given, or those of all values of all frames."""
    values = [x for one in frames for row in one["values"] for x in row if x is not None]
    lows = [one["scale"]["low"] for one in frames if one["scale"]["low"] is not None]
    highs = [one["scale"]["high"] for one in frames if one["scale"]["high"] is not None]
    low = min(lows) if lows else min(values, default=0.0)
    high = max(highs) if highs else max(values, default=1.0)
    if low < 0 < high and not lows and not highs:
        low, high = -max(-low, high), max(-low, high)
    return AxisScale(frames[0]["scale"]["title"], low, high if high > low else low + 1.0)


def blank(one: Data) -> bool:
    """Whether a cell has no value."""
    return any(x is None for row in one["values"] for x in row)
