"""Draw figures of any kind as parts of a page, in several frames if a slider chooses one."""

from collections.abc import Callable, Sequence
from typing import Any

from nbyt.report.figures.draw_bars import bars_drawn, histogram_drawn, points_drawn
from nbyt.report.figures.draw_forest import Forest, forest_drawn
from nbyt.report.figures.draw_heatmap import colour_map, heatmap_drawn
from nbyt.report.figures.draw_lines import lines_drawn
from nbyt.report.figures.draw_plane import plane_drawn, planes_drawn
from nbyt.report.figures.drawn import Drawn, scale_of
from nbyt.report.html.element import Child, Markup, tag
from nbyt.report.html.page import (
    Part,
    by_place,
    chart_place,
    merged,
    side_by_side,
    slider_bar,
    table,
    wrap,
)
from nbyt.report.html.quantity import shown_brief
from nbyt.results.study import (
    AnyFigure,
    Axis,
    Bars,
    Heatmap,
    Histogram,
    Lines,
    Plane,
    Points,
    Row,
    Slides,
    Table,
    Titled,
)
from nbyt.results.values import Number

_CHARTS: dict[type[Titled], Callable[[Any], Drawn]] = {
    Lines: lines_drawn,
    Bars: bars_drawn,
    Points: points_drawn,
    Heatmap: heatmap_drawn,
    Histogram: histogram_drawn,
    Plane: plane_drawn,
    Forest: forest_drawn,
}
Drawable = AnyFigure | Forest


def figures_part(some: Sequence[Drawable], name: str) -> Part:
    """Draw figures below each other. name: unique on the page; ids of elements start with it."""
    return merged(_frames([one], f"{name}-{k}", "") for k, one in enumerate(some))


def _frames(frames: Sequence[Any], name: str, slider: str) -> Part:
    """Draw one figure in as many frames as its slider has places, all of the same form."""
    first: Drawable = frames[0]
    if isinstance(first, Row):
        return _row(frames, name, slider)
    if isinstance(first, Slides):
        return _slides(first, name)
    if isinstance(first, Table):
        return _titled(frames, [_table(one) for one in frames], slider)
    if isinstance(first, Heatmap) and first.written:
        scale = scale_of(frames)
        return _titled(frames, [colour_map(one, scale) for one in frames], slider)
    return _chart(frames, _CHARTS[type(first)](frames), name, slider)


def _chart(frames: Sequence[Titled], drawn: Drawn, name: str, slider: str) -> Part:
    title = _varied([_title(one) for one in frames], slider)
    place = chart_place(name, _described(frames[0]), drawn.charts, slider)
    sized = _sized(place.html, drawn, _described(frames[0]))
    parts = [title, _varied(drawn.keys, slider), sized, _varied(drawn.remarks, slider)]
    return place.inside(tag("figure", *parts))


def _sized(place: Markup, drawn: Drawn, about: str) -> Markup:
    """Limit the width of a chart from above or below."""
    if drawn.widest is not None:
        return tag("div", place, style=f"max-width:{drawn.widest}px")
    if drawn.least is None:
        return place
    inside = tag("div", place, style=f"min-width:{drawn.least}px")
    return tag("div", inside, class_="scroll", role="region", aria_label=about, tabindex="0")


def _row(frames: Sequence[Row], name: str, slider: str) -> Part:
    columns = list(zip(*(one.figures for one in frames), strict=True))
    if all(isinstance(figures[0], Plane) for figures in columns):
        pairs = zip(columns, planes_drawn(columns), strict=True)
        return side_by_side(
            _chart(own, drawn, f"{name}-{k}", slider) for k, (own, drawn) in enumerate(pairs)
        )
    return side_by_side(_frames(own, f"{name}-{k}", slider) for k, own in enumerate(columns))


def _slides(one: Slides, name: str) -> Part:
    """Build a slider, and below it the figures that it changes."""
    slider, label = f"slider-{name}", one.label
    bar = slider_bar(slider, label, one.words, one.start)
    columns = zip(*one.frames, strict=True)
    charts = [_frames(own, f"{name}-{k}", slider) for k, own in enumerate(columns)]
    return wrap("div", bar, *charts, class_="slides", role="group", aria_label=label)


def _varied(blocks: Sequence[Markup | None], slider: str) -> Markup | None:
    """Return the block, or one for each place of the slider if they differ."""
    if len(set(blocks)) == 1:
        return blocks[0]
    return by_place(blocks, 0, slider)


def _titled(frames: Sequence[Titled], blocks: Sequence[Markup], slider: str) -> Part:
    """Put HTML blocks below their titles."""
    title = _varied([_title(one) for one in frames], slider)
    return Part(tag("figure", title, _varied(blocks, slider)))


def _title(one: Titled) -> Markup | None:
    return tag("h4", one.title) if one.title else None


def _table(one: Table) -> Markup:
    rows = [tag("tr", *(tag("td", _cell(cell)) for cell in row)) for row in one.rows]
    return table(one.title, one.head, rows)


def _cell(cell: str | Number) -> Child:
    return cell if isinstance(cell, str) else shown_brief(cell)


def _described(one: Titled) -> str:
    """Describe a chart for screen readers."""
    axes = [getattr(one, name, None) for name in ("y", "x")]
    about = " against ".join(axis.title for axis in axes if isinstance(axis, Axis) and axis.title)
    about = about or (one.scale.title if isinstance(one, Heatmap) else "")
    return f"{one.title}: {about}" if about else one.title
