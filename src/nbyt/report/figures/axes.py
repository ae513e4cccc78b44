"""Axes: ranges in which values stay visible, and ticks that read well on a log scale."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median
from typing import TypeGuard

from nbyt.report.html.element import for_chart
from nbyt.report.numbers import has_value, short
from nbyt.results.values import Data, Number, Valued

CUT = "Some intervals go beyond the edge of the chart."
_MOVES = "The vertical axis changes with the slider."
_ROOM = 0.06  # beyond the outermost value, as a share of the axis
_ALIKE = 5.0  # frames whose reaches differ by no more than this share one axis
_PLAIN = {"exponentformat": "power", "minexponent": 5, "separatethousands": True}
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Reach:
    """The range of an axis, in powers of ten if log; cut: some intervals go beyond it."""

    low: float
    high: float
    log: bool = False
    cut: bool = False

    @property
    def range(self) -> list[float]:
        """Return the range with room at both ends."""
        room = _ROOM * (self.high - self.low)
        return [self.low - room, self.high + room]

    @property
    def bottom(self) -> float:
        """Return the lowest visible value."""
        low = self.range[0]
        return 10.0**low if self.log else low


def reach(numbers: Iterable[Number], others: Iterable[float] = (), *, log: bool = False) -> Reach:
    """Return a range that holds all values and others, and as much of the intervals as fits."""
    found = [number for number in numbers if drawable(number, log=log)]
    values = _scaled([*(number.value for number in found), *others], log)
    if not values:
        return Reach(0.0, 1.0, log)
    lows = _scaled([_end(number, number.ends[1], log) for number in found], log)
    highs = _scaled([_end(number, number.ends[2], log) for number in found], log)
    halves = [(high - low) / 2 for low, high in zip(lows, highs, strict=True)]
    allowed = max(2 * (max(values) - min(values)), 4 * median(halves or [0.0]))
    low, high = min([*values, *lows]), max([*values, *highs])
    shown_low, shown_high = max(low, min(values) - allowed), min(high, max(values) + allowed)
    endless = log and any((number.ends[1] or 1) <= 0 for number in found)
    cut = endless or (shown_low, shown_high) != (low, high)
    return _wide(shown_low, shown_high, log, cut)


def along(xs: Iterable[float], *, log: bool = False) -> Reach:
    """Return a range that holds all places of x."""
    return reach((), xs, log=log)


def shared(reaches: Sequence[Reach]) -> list[Reach]:
    """Give similar frames one common range; leave others their own."""
    spans = [one.high - one.low for one in reaches]
    if max(spans) > _ALIKE * min(spans):
        return list(reaches)
    low, high = min(one.low for one in reaches), max(one.high for one in reaches)
    return [Reach(low, high, one.log, one.cut) for one in reaches]


def said_of(own: Reach, reaches: Sequence[Reach]) -> list[str]:
    """Return remarks on the vertical axis of one of the frames."""
    moves = len({(one.low, one.high) for one in reaches}) > 1
    return [CUT] * own.cut + [_MOVES] * moves


def drawable(number: Number, *, log: bool) -> TypeGuard[Valued]:
    """Return True if the axis has a place for the number."""
    return has_value(number) and (number.value > 0 or not log)


def bounds(low: float, high: float, *, log: bool = False) -> Reach:
    """Return the range from one value to another."""
    low, high = (log10(low), log10(high)) if log else (low, high)
    return Reach(low, high, log)


def x_axis(title: str, found: Reach, ticks: Sequence[tuple[float, str]] = ()) -> Data:
    """Build a horizontal axis. ticks: places with their words, instead of the usual ones."""
    axis = {"title": {"text": for_chart(title)}, "range": found.range, "zeroline": False, **_PLAIN}
    usual = log_ticks(found) if found.log else []
    return {**axis, **_ticks(ticks or usual), "type": "log" if found.log else "linear"}


def y_axis(title: str, found: Reach) -> Data:
    """Build a vertical axis."""
    axis: Data = {
        "title": {"text": for_chart(title)},
        "range": found.range,
        "automargin": True,
        **_PLAIN,
    }
    if not found.log:
        return {**axis, "zeroline": True}
    return {**axis, "type": "log", "zeroline": False, **_ticks(log_ticks(found))}


def log_ticks(found: Reach) -> list[tuple[float, str]]:
    """Return powers of ten as ticks, or 1, 2 and 5 times them if there are few."""
    low, high = found.range
    powers = range(ceil(low), floor(high) + 1)
    if len(powers) >= 3:
        step = ceil(len(powers) / 8)
        plain = low >= -3.5 and high < 4.5
        kept = [k for k in powers if k % step == 0]
        return [(10.0**k, short(10.0**k) if plain else _power(k)) for k in kept]
    near = [m * 10.0**k for k in range(floor(low), ceil(high) + 1) for m in (1, 2, 5)]
    inside = [x for x in near if low <= log10(x) <= high]
    if len(inside) < 3:
        near = [m * 10.0**k for k in range(floor(low), ceil(high) + 1) for m in range(1, 10)]
        inside = [x for x in near if low <= log10(x) <= high]
    return [(x, short(x)) for x in inside]


def _power(k: int) -> str:
    return "1" if k == 0 else f"10{str(k).translate(_POWERS)}"


def _ticks(pairs: Sequence[tuple[float, str]]) -> Data:
    if not pairs:
        return {}
    return {"tickvals": [at for at, _ in pairs], "ticktext": [for_chart(w) for _, w in pairs]}


def _end(number: Valued, end: float | None, log: bool) -> float:
    """Return one end of the interval, or the value if that end cannot be drawn."""
    return number.value if end is None or (log and end <= 0) else end


def _scaled(values: Iterable[float], log: bool) -> list[float]:
    return [log10(x) for x in values if x > 0] if log else [float(x) for x in values]


def _wide(low: float, high: float, log: bool, cut: bool) -> Reach:
    """Widen a range whose ends coincide."""
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return Reach(low, high, log, cut)
    half = 0.3 if log else 0.5 * abs(high) or 0.5
    return Reach(low - half, high + half, log, cut)
