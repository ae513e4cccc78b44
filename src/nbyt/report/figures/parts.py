"""What charts are made of: axes over T and N, lines, bands for intervals."""

from collections.abc import Sequence
from math import log10
from typing import Any

from nbyt.report.html.element import for_chart
from nbyt.report.numbers import Number, known, layout_name, words
from nbyt.results.values import Data

STEPS_TITLE = "T steps (upper line), N envs (lower line)"
_EDGE = 0.06  # room beside the outermost T, as a share of the axis


def figure(traces: Sequence[Data], height: int, **layout: Any) -> Data:
    """Build a chart for one stage, or the only one."""
    margin = {"l": 62, "r": 14, "t": 14, "b": 64}
    return {"data": list(traces), "layout": {"height": height, "margin": margin, **layout}}


def steps_axis(layouts: Sequence[Data]) -> Data:
    """Build a log axis over T, each tick with its N below, sorted by T."""
    ordered = sorted(layouts, key=lambda one: one["steps"])
    logs = [log10(one["steps"]) for one in ordered]
    room = _EDGE * max(logs[-1] - logs[0], 1.0)
    return {
        "type": "log",
        "range": [logs[0] - room, logs[-1] + room],
        "tickvals": [one["steps"] for one in ordered],
        "ticktext": _tick_texts(ordered),
        "title": {"text": STEPS_TITLE},
    }


def places_axis(layouts: Sequence[Data]) -> Data:
    """Build an axis with one place for each layout, for bars."""
    count = len(layouts)
    return {
        "range": [-0.6, count - 0.4],
        "zeroline": False,
        "tickvals": list(range(count)),
        "ticktext": _tick_texts(layouts),
        "title": {"text": STEPS_TITLE},
    }


def value_axis(title: str, **more: Any) -> Data:
    """Build a vertical axis with its unit in the title."""
    return {"title": {"text": title}, "zeroline": True, **more}


def line(
    layouts: Sequence[Data], numbers: Sequence[Number], name: str, look: Data, scale: float = 1.0
) -> list[Data]:
    """Draw a band for the intervals and a line with markers, over T."""
    texts = [
        for_chart(f"{layout_name(one)}: {name} {words(number)}")
        for one, number in zip(layouts, numbers, strict=True)
    ]
    x = [one["steps"] for one in layouts]
    y = [scale * one["value"] if known(one) else None for one in numbers]
    return [band(x, numbers, look["colour"], scale), curve(x, y, name, texts, look)]


def curve(
    x: Sequence[float], y: Sequence[float | None], name: str, texts: Sequence[str], look: Data
) -> Data:
    """Draw a line with markers and gaps where a value is missing. texts: shown at each marker."""
    colour = look["colour"]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": list(x),
        "y": list(y),
        "hovertext": list(texts),
        "hoverinfo": "text",
        "line": {"color": f"@{colour}", "width": look.get("width", 2), "dash": look["dash"]},
        "marker": {"color": f"@{colour}", "size": look.get("size", 7), "symbol": look["symbol"]},
    }


def spread(numbers: Sequence[Number], scale: float = 1.0) -> Data:
    """Build bars for the intervals of single points."""
    pairs = [one if known(one) else None for one in numbers]
    return {
        "type": "data",
        "symmetric": False,
        "array": [_length(p, "value", "high", scale) for p in pairs],
        "arrayminus": [_length(p, "low", "value", scale) for p in pairs],
        "thickness": 1.4,
        "width": 3,
    }


def _length(number: Number | None, start: str, end: str, scale: float) -> float | None:
    """Return one side of an interval; 0 if the value lies outside of it."""
    return None if number is None else max(0.0, scale * (number[end] - number[start]))


def band(
    x: Sequence[float],
    numbers: Sequence[Number],
    colour: str,
    scale: float = 1.0,
    alone: float | None = None,
) -> Data:
    """Draw one outline around each run of known intervals.

    alone: half the width of one that has no neighbours; None for a share of x, on a log axis.
    """
    xs: list[float | None] = []
    ys: list[float | None] = []
    for run in _runs(numbers):
        at = [x[k] for k in run] if len(run) > 1 else _around(x[run[0]], alone)
        own = run if len(run) > 1 else [run[0], run[0]]
        ends = [(scale * numbers[k]["low"], scale * numbers[k]["high"]) for k in own]
        xs += [*at, *reversed(at), None]
        ys += [*(low for low, _ in ends), *(high for _, high in reversed(ends)), None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": ys,
        "fill": "toself",
        "fillcolor": f"@{colour}:0.16",
        "line": {"width": 0},
        "hoverinfo": "skip",
    }


def _around(x: float, half: float | None) -> list[float]:
    """Return a little to both sides: a single point has no width."""
    return [0.96 * x, 1.04 * x] if half is None else [x - half, x + half]


def _runs(numbers: Sequence[Number]) -> list[list[int]]:
    """Group the places of known numbers into runs of neighbours."""
    found: list[list[int]] = []
    for place, number in enumerate(numbers):
        if not known(number):
            continue
        if found and found[-1][-1] == place - 1:
            found[-1].append(place)
        else:
            found.append([place])
    return found


def _tick_texts(layouts: Sequence[Data]) -> list[str]:
    return [f"{int(one['steps'])}<br>{int(one['envs'])}" for one in layouts]
