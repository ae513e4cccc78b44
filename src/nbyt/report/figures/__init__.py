"""Figures as plain data: studies and pages build them here, `figures.figure` draws them.

A number is {"value", "low", "high"}; without low and high no interval is drawn.
"""

from collections.abc import Sequence
from typing import Any

from nbyt.results.values import Data

Number = dict[str, Any]


def series(name: str, x: Sequence[float], numbers: Sequence[Number], *, line: bool = True) -> Data:
    """Build a series of numbers with intervals along x; `line` joins them."""
    return {"name": name, "x": list(x), "numbers": list(numbers), "line": line}


def lines(
    title: str,
    x_title: str,
    y_title: str,
    some: Sequence[Data],
    *,
    log_x: bool = False,
    log_y: bool = False,
    ticks: Sequence[tuple[float, str]] = (),
    marks: Sequence[tuple[float, str]] = (),
    spans: Sequence[tuple[float, float, str]] = (),
) -> Data:
    """Build a figure of lines with bands for their intervals.

    ticks: places of x with their words. marks: heights at which a thin line is drawn, with words.
    spans: parts of x that are shaded, from, to and words.
    """
    return {
        "kind": "lines",
        "title": title,
        "x": {"title": x_title, "log": log_x, "ticks": [list(one) for one in ticks]},
        "y": {"title": y_title, "log": log_y},
        "series": list(some),
        "marks": [list(one) for one in marks],
        "spans": [list(one) for one in spans],
    }


def bars(title: str, categories: Sequence[str], y_title: str, some: Sequence[Data]) -> Data:
    """Build a figure with a bar and its interval for each category, grouped for several series.

    some: made by `series` with the categories' places 0, 1, ... as x.
    """
    return {
        "kind": "bars",
        "title": title,
        "categories": list(categories),
        "y": {"title": y_title},
        "series": list(some),
    }


def points(
    title: str,
    x_title: str,
    y_title: str,
    some: Sequence[Data],
    *,
    log_x: bool = False,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> Data:
    """Build a figure of many points; some: {"name", "x", "y"}."""
    return {
        "kind": "points",
        "title": title,
        "x": {"title": x_title, "log": log_x, "range": x_range and list(x_range)},
        "y": {"title": y_title, "range": y_range and list(y_range)},
        "series": list(some),
    }


def heatmap(
    title: str,
    values: Sequence[Sequence[float | None]],
    scale_title: str,
    *,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    low: float | None = None,
    high: float | None = None,
    written: bool = False,
    x_title: str = "",
    y_title: str = "",
) -> Data:
    """Build a table of colours, first row on top; `written` puts each value into its cell.

    low, high: ends of the colours' scale; symmetric around 0 gives two colours. x_title, y_title:
    what the columns and the rows are.
    """
    return {
        "kind": "heatmap",
        "title": title,
        "values": [list(row) for row in values],
        "scale": {"title": scale_title, "low": low, "high": high},
        "rows": list(rows),
        "columns": list(columns),
        "written": written,
        "x_title": x_title,
        "y_title": y_title,
    }


def histogram(
    title: str, x_title: str, edges: Sequence[float], some: Sequence[Data], *, y_title: str
) -> Data:
    """Build outlines of histograms over the same bins; some: {"name", "heights"}."""
    return {
        "kind": "histogram",
        "title": title,
        "x": {"title": x_title},
        "y": {"title": y_title},
        "edges": list(edges),
        "series": list(some),
    }


def plane(title: str, cloud: Data, *, goal: str, points: str) -> Data:
    """Build a figure of gradients in a plane with the one they estimate, the arrow to (1, 0).

    cloud: {"mean", "covariance", "points"} in units of that gradient's length. goal, points: what
    the arrow and the points are, in words.
    """
    return {"kind": "plane", "title": title, "cloud": cloud, "goal": goal, "points": points}


def forest(checks: Sequence[Data]) -> Data:
    """Build a figure with a row for each check of a claim, as `Check.as_dict` gives them."""
    same = len({check["quantity"] for check in checks}) == 1
    title = checks[0]["quantity"] if same else "measured"
    return {"kind": "forest", "title": "", "x": {"title": title}, "checks": list(checks)}


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str | Number]]) -> Data:
    """Build a table of texts and numbers."""
    return {"kind": "table", "title": title, "head": list(head), "rows": [list(r) for r in rows]}


def row(*some: Data) -> Data:
    """Put figures side by side, or below each other where there is no room."""
    return {"kind": "row", "figures": list(some)}


def slides(
    name: str,
    label: str,
    words: Sequence[str],
    frames: Sequence[Sequence[Data]],
    *,
    start: int = 0,
) -> Data:
    """Build figures that a slider changes: one frame for each of its words, with the same figures.

    name: short words with hyphens, its own on the page. label: what the slider chooses. start:
    the frame that is seen first, from the end if negative.
    """
    return {
        "kind": "slides",
        "name": name,
        "label": label,
        "start": start % max(len(words), 1),
        "words": list(words),
        "frames": [list(frame) for frame in frames],
    }
