"""What charts are made of: axes over T and N, lines, bands for intervals."""

from collections.abc import Sequence
from math import log10
from typing import Any

from nbyt.report.html.element import for_chart
from nbyt.report.numbers import HasLayout, known, layout_name, words
from nbyt.results.values import Data, Number

STEPS_TITLE = "T steps (upper line), N envs (lower line)"
MARGIN = {"l": 66, "r": 14, "t": 14, "b": 52}  # around a chart with one line of ticks
_EDGE = 0.06  # room beside the outermost T, as a share of the axis


def figure(traces: Sequence[Data], height: int, **layout: Any) -> Data:
    """Build a chart for one stage, or the only one."""
    margin = {"l": 62, "r": 14, "t": 14, "b": 64}
    return {"data": list(traces), "layout": {"height": height, "margin": margin, **layout}}


def scatter(
    x: Sequence[float | None],
    y: Sequence[float | None],
    name: str | None = None,
    texts: Sequence[str] | None = None,
    *,
    mode: str = "markers",
    **look: Any,
) -> Data:
    """Draw points or a line. texts: shown at each point; without them the mouse finds none."""
    hover: Data = {"hoverinfo": "skip"}
    if texts is not None:
        hover = {"hovertext": [for_chart(text) for text in texts], "hoverinfo": "text"}
    named = {} if name is None else {"name": for_chart(name)}
    return {"type": "scatter", "mode": mode, **named, "x": list(x), "y": list(y), **look, **hover}


def bar(
    x: Sequence[float],
    y: Sequence[float | None],
    name: str,
    texts: Sequence[str],
    marker: Data,
    **more: Any,
) -> Data:
    """Draw bars. texts: shown at each."""
    return {
        "type": "bar",
        "name": for_chart(name),
        "x": list(x),
        "y": list(y),
        "marker": {**marker, "line": {"width": 0}},
        "hovertext": [for_chart(text) for text in texts],
        "hoverinfo": "text",
        **more,
    }


def level(height: float) -> Data:
    """Draw a thin line at a height, over the whole width."""
    look = {"color": "@ink:0.55", "width": 1.2, "dash": "dash"}
    ends = {"x0": 0, "x1": 1, "y0": height, "y1": height}
    return {"type": "line", "xref": "paper", "layer": "below", "line": look, **ends}


def shaded(colour: str, **ends: Any) -> Data:
    """Shade a rectangle below the lines."""
    return {"type": "rect", **ends, "fillcolor": colour, "line": {"width": 0}, "layer": "below"}


def steps_axis(layouts: Sequence[HasLayout]) -> Data:
    """Build a log axis over T, each tick with its N below, sorted by T."""
    ordered = sorted(layouts, key=lambda layout: layout.steps)
    logs = [log10(layout.steps) for layout in ordered]
    room = _EDGE * max(logs[-1] - logs[0], 1.0)
    return {
        "type": "log",
        "range": [logs[0] - room, logs[-1] + room],
        "tickvals": [layout.steps for layout in ordered],
        "ticktext": _tick_texts(ordered),
        "title": {"text": STEPS_TITLE},
    }


def places_axis(layouts: Sequence[HasLayout]) -> Data:
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
    layouts: Sequence[HasLayout],
    numbers: Sequence[Number],
    name: str,
    look: Data,
    scale: float = 1.0,
) -> list[Data]:
    """Draw a band for the intervals and a line with markers, over T."""
    x = [layout.steps for layout in layouts]
    drawn = curve(x, values_of(numbers, scale), name, named_texts(layouts, numbers, name), look)
    return [band(x, numbers, look["colour"], scale), drawn]


def values_of(numbers: Sequence[Number], scale: float = 1.0) -> list[float | None]:
    """Return the values to draw; None where value or interval is missing."""
    return [scale * number.value if known(number) else None for number in numbers]


def named_texts(layouts: Sequence[HasLayout], numbers: Sequence[Number], name: str) -> list[str]:
    """Return what is shown at the number of each layout."""
    pairs = zip(layouts, numbers, strict=True)
    return [f"{layout_name(layout)}: {name} {words(number)}" for layout, number in pairs]


def curve(
    x: Sequence[float], y: Sequence[float | None], name: str, texts: Sequence[str], look: Data
) -> Data:
    """Draw a line with markers and gaps where a value is missing. texts: shown at each marker."""
    colour = f"@{look['colour']}"
    line = {"color": colour, "width": look.get("width", 2), "dash": look["dash"]}
    marker = {"color": colour, "size": look.get("size", 7), "symbol": look["symbol"]}
    return scatter(x, y, name, texts, mode="lines+markers", line=line, marker=marker)


def spread(numbers: Sequence[Number], colour: str, scale: float = 1.0) -> Data:
    """Build bars for the intervals of single points; no length if the value lies outside."""
    ends = [(n.value, n.low, n.high) if known(n) else None for n in numbers]
    return {
        "type": "data",
        "symmetric": False,
        "array": [None if n is None else max(0.0, scale * (n[2] - n[0])) for n in ends],
        "arrayminus": [None if n is None else max(0.0, scale * (n[0] - n[1])) for n in ends],
        "thickness": 1.4,
        "width": 3,
        "color": f"@{colour}",
    }


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
        ends = [(scale * n.low, scale * n.high) for n in (numbers[k] for k in own) if known(n)]
        xs += [*at, *reversed(at), None]
        ys += [*(low for low, _ in ends), *(high for _, high in reversed(ends)), None]
    fill = f"@{colour}:0.16"
    return scatter(xs, ys, mode="lines", fill="toself", fillcolor=fill, line={"width": 0})


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


def _tick_texts(layouts: Sequence[HasLayout]) -> list[str]:
    return [f"{layout.steps}<br>{layout.envs}" for layout in layouts]
