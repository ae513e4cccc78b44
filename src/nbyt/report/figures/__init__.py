"""Figures as typed records: studies and pages build them here, `figures.figure` draws them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import convert

from nbyt.results.measurement import Cloud
from nbyt.results.study import (
    Axis,
    Bars,
    Chart,
    ColourScale,
    Heatmap,
    HeightSeries,
    Histogram,
    Lines,
    NumberedCloud,
    NumberSeries,
    Plane,
    Points,
    PointSeries,
    Row,
    ScaledAxis,
    Slides,
    Table,
)
from nbyt.results.values import Number

# A number as a record, or as the JSON of an experiment holds it.
AnyNumber = Number | Mapping[str, Any]


def series(
    name: str, x: Iterable[float], numbers: Iterable[AnyNumber], *, line: bool = True
) -> NumberSeries:
    """Build a series of numbers with intervals along x; `line` joins them."""
    some = tuple(_number(number) for number in numbers)
    return NumberSeries(name=name, x=_reals(x), numbers=some, line=line)


def lines(
    title: str,
    x_title: str,
    y_title: str,
    some: Sequence[NumberSeries],
    *,
    log_x: bool = False,
    log_y: bool = False,
    ticks: Sequence[tuple[float, str]] = (),
    marks: Sequence[tuple[float, str]] = (),
    spans: Sequence[tuple[float, float, str]] = (),
) -> Lines:
    """Build a figure of lines with bands for their intervals.

    ticks: places of x with their words. marks: heights at which a thin line is drawn, with words.
    spans: parts of x that are shaded, from, to and words.
    """
    return Lines(
        title=title,
        x=ScaledAxis(title=x_title, log=log_x, ticks=tuple(ticks)),
        y=ScaledAxis(title=y_title, log=log_y),
        series=tuple(some),
        marks=tuple(marks),
        spans=tuple(spans),
    )


def bars(title: str, categories: Sequence[str], y_title: str, some: Sequence[NumberSeries]) -> Bars:
    """Build a figure with a bar and its interval for each category, grouped for several series.

    some: made by `series` with the categories' places 0, 1, ... as x.
    """
    y = Axis(title=y_title)
    return Bars(title=title, categories=tuple(categories), y=y, series=tuple(some))


def points(
    title: str,
    x_title: str,
    y_title: str,
    some: Sequence[Mapping[str, Any]],
    *,
    log_x: bool = False,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> Points:
    """Build a figure of many points; some: {"name", "x", "y"} of each series."""
    return Points(
        title=title,
        x=ScaledAxis(title=x_title, log=log_x, range=x_range),
        y=Axis(title=y_title, range=y_range),
        series=tuple(
            PointSeries(name=one["name"], x=_reals(one["x"]), y=_reals(one["y"])) for one in some
        ),
    )


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
) -> Heatmap:
    """Build a table of colours, first row on top; `written` puts each value into its cell.

    low, high: ends of the colours' scale; symmetric around 0 gives two colours. x_title, y_title:
    what the columns and the rows are.
    """
    return Heatmap(
        title=title,
        values=tuple(map(tuple, values)),
        scale=ColourScale(title=scale_title, low=low, high=high),
        rows=tuple(rows),
        columns=tuple(columns),
        written=written,
        x_title=x_title,
        y_title=y_title,
    )


def histogram(
    title: str,
    x_title: str,
    edges: Sequence[float],
    some: Sequence[Mapping[str, Any]],
    *,
    y_title: str,
) -> Histogram:
    """Build outlines of histograms over the same bins; some: {"name", "heights"} of each."""
    return Histogram(
        title=title,
        x=Axis(title=x_title),
        y=Axis(title=y_title),
        edges=_reals(edges),
        series=tuple(
            HeightSeries(name=one["name"], heights=_reals(one["heights"])) for one in some
        ),
    )


def plane(title: str, cloud: Cloud | Mapping[str, Any], *, goal: str, points: str) -> Plane:
    """Build a figure of gradients in a plane with the one they estimate, the arrow to (1, 0).

    cloud: in units of that gradient's length. goal, points: what the arrow and the points are, in
    words.
    """
    return Plane(title=title, cloud=convert(cloud, NumberedCloud), goal=goal, points=points)


def table(title: str, head: Sequence[str], rows: Iterable[Iterable[str | AnyNumber]]) -> Table:
    """Build a table of texts and numbers."""
    cells = tuple(
        tuple(cell if isinstance(cell, str) else _number(cell) for cell in row) for row in rows
    )
    return Table(title=title, head=tuple(head), rows=cells)


def row(*some: Chart) -> Row:
    """Put figures side by side, or below each other where there is no room."""
    return Row(figures=some)


def slides(
    name: str,
    label: str,
    words: Sequence[str],
    frames: Sequence[Sequence[Chart | Row]],
    *,
    start: int = 0,
) -> Slides:
    """Build figures that a slider changes: one frame for each of its words, with the same figures.

    name: short words with hyphens, its own on the page. label: what the slider chooses. start:
    the frame that is seen first, from the end if negative.
    """
    return Slides(
        name=name,
        label=label,
        start=start % max(len(words), 1),
        words=tuple(words),
        frames=tuple(map(tuple, frames)),
    )


def _number(number: AnyNumber) -> Number:
    if isinstance(number, Number):
        return number
    fields: dict[str, Any] = {
        name: number[name] for name in Number.__struct_fields__ if name in number
    }
    numbers = {name: float(x) for name, x in fields.items() if isinstance(x, float)}
    return Number(**{**fields, **numbers})


def _reals(values: Iterable[float]) -> tuple[float, ...]:
    """Return plain numbers, where some may be NumPy's; whole ones stay whole."""
    return tuple(x if isinstance(x, int) else float(x) for x in values)
