"""Draw bars with intervals, clouds of points, and histograms."""

from collections.abc import Sequence

from nbyt.report.figures.axes import Reach, along, bounds, reach, said_of, shared, x_axis, y_axis
from nbyt.report.figures.drawn import Drawn, error_bars, look, named, pattern, remarks
from nbyt.report.figures.parts import MARGIN, bar, figure, scatter
from nbyt.report.html.element import Markup, for_chart
from nbyt.report.numbers import brief_words, has_value
from nbyt.results.study import Axis, Bars, Histogram, NumberSeries, Points
from nbyt.results.values import Data


def histogram_drawn(frames: Sequence[Histogram]) -> Drawn:
    """Draw a chart for each frame."""
    heights = [[h for series in one.series for h in series.heights] for one in frames]
    tops = shared([along([0.0, *some]) for some in heights])
    charts = [_histogram_chart(one, top) for one, top in zip(frames, tops, strict=True)]
    keys = [named(one.series, lambda place: ("none", look(place)["dash"])) for one in frames]
    return Drawn(charts, keys, [remarks([], said_of(top, tops)) for top in tops])


def _histogram_chart(one: Histogram, top: Reach) -> Data:
    edges, traces = one.edges, []
    for place, series in enumerate(one.series):
        style, heights = look(place), series.heights
        line = {"shape": "hv", "color": f"@{style['colour']}", "width": 2, "dash": style["dash"]}
        fill = {"fill": "tozeroy", "fillcolor": f"@{style['colour']}:0.1"}
        # Up at the first edge, along every bin, and down at the last.
        x, y = [edges[0], *edges, edges[-1]], [0, *heights, *heights[-1:], 0]
        traces.append(scatter(x, y, series.name, mode="lines", line=line, **fill))
    across = x_axis(one.x.title, along(edges))
    up = {**y_axis(one.y.title, top), "range": [0.0, top.range[1]]}
    return figure(traces, 320, xaxis=across, yaxis=up, margin=MARGIN)


def points_drawn(frames: Sequence[Points]) -> Drawn:
    """Draw a chart for each frame; a given range is kept."""
    acrosses = [
        _given(one.x) or along((x for series in one.series for x in series.x), log=one.x.log)
        for one in frames
    ]
    ups = [_given(one.y) or along(y for series in one.series for y in series.y) for one in frames]
    ups = shared(ups)
    reaches = zip(frames, shared(acrosses), ups, strict=True)
    keys = [named(one.series, lambda place: (look(place)["symbol"], None)) for one in frames]
    said = [remarks([], said_of(up, ups)) for up in ups]
    return Drawn([_points_chart(*three) for three in reaches], keys, said)


def _points_chart(one: Points, across: Reach, up: Reach) -> Data:
    traces = []
    for place, series in enumerate(one.series):
        style = look(place)
        marker = {"size": 5, "symbol": style["symbol"], "color": f"@{style['colour']}:0.5"}
        marker |= {"line": {"width": 0}}
        traces.append(scatter(series.x, series.y, series.name, marker=marker))
    axes = {"xaxis": x_axis(one.x.title, across), "yaxis": y_axis(one.y.title, up)}
    return figure(traces, 260, **axes, margin=MARGIN)


def _given(axis: Axis) -> Reach | None:
    return bounds(*axis.range, log=bool(axis.log)) if isinstance(axis.range, tuple) else None


def bars_drawn(frames: Sequence[Bars]) -> Drawn:
    """Draw a chart for each frame; a bar starts at 0, so 0 is always visible."""
    numbers = [[n for series in one.series for n in series.numbers] for one in frames]
    reaches = shared([reach(some, [0.0]) for some in numbers])
    pairs = list(zip(frames, reaches, strict=True))
    return Drawn(
        [_chart(one, up) for one, up in pairs],
        [_key(one) for one in frames],
        [remarks(_missing(one), said_of(up, reaches)) for one, up in pairs],
    )


def _chart(one: Bars, up: Reach) -> Data:
    names = [for_chart(name) for name in one.categories]
    axis = {
        "title": {"text": ""},
        "range": [-0.5, len(names) - 0.5],
        "tickvals": list(range(len(names))),
        "ticktext": names,
        "all": True,
        "automargin": True,
        "zeroline": False,
        "showgrid": False,
    }
    traces = [_bar(one, series, place) for place, series in enumerate(one.series)]
    layout = {"barmode": "group", "bargap": 0.3, "margin": {**MARGIN, "b": 34}}
    return figure(traces, 340, xaxis=axis, yaxis=y_axis(one.y.title, up), **layout)


def _bar(one: Bars, series: NumberSeries, place: int) -> Data:
    pairs = zip(series.x, series.numbers, strict=True)
    texts = [f"{one.categories[int(x)]}: {series.name} {brief_words(n)}" for x, n in pairs]
    y = [n.value if has_value(n) else None for n in series.numbers]
    drawing = {"shape": pattern(place)[0], "fgcolor": "@card:0.75", "fillmode": "overlay"}
    marker = {"color": f"@{look(place)['colour']}:0.75", "pattern": {**drawing, "size": 7}}
    more = {**error_bars(series.numbers, "ink"), "textposition": "none"}
    return bar(series.x, y, series.name, texts, marker, **more)


def _key(one: Bars) -> Markup | None:
    if len(one.series) < 2:
        return None
    return named(one.series, lambda place: (pattern(place)[1], None))


def _missing(one: Bars) -> list[tuple[str, str, str]]:
    return [
        (series.name, one.categories[int(x)], number.why or "undetermined")
        for series in one.series
        for x, number in zip(series.x, series.numbers, strict=True)
        if not has_value(number)
    ]
