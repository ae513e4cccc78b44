"""Draw bars with intervals, clouds of points, and histograms."""

from collections.abc import Iterable, Sequence

from nbyt.report.figures.axes import Reach, along, bounds, reach, said_of, shared, x_axis, y_axis
from nbyt.report.figures.drawn import Drawn, error_bars, look, named, pattern, remarks
from nbyt.report.figures.parts import figure
from nbyt.report.html.element import Markup, for_chart
from nbyt.report.numbers import brief_words, has_value
from nbyt.results.values import Data

_HISTOGRAM_HEIGHT = 320


def histogram_drawn(frames: Sequence[Data]) -> Drawn:
    """Draw a chart for each frame."""
    heights = [[h for series in one["series"] for h in series["heights"]] for one in frames]
    tops = shared([along([0.0, *own]) for own in heights])
    charts = [_histogram_chart(one, top) for one, top in zip(frames, tops, strict=True)]
    keys = [named(one["series"], lambda place: ("none", look(place)["dash"])) for one in frames]
    return Drawn(charts, keys, [remarks([], said_of(own, tops)) for own in tops])


def _histogram_chart(one: Data, top: Reach) -> Data:
    up = {**y_axis(one["y"]["title"], top), "range": [0.0, top.range[1]]}
    return figure(
        [_outline(one["edges"], series, place) for place, series in enumerate(one["series"])],
        _HISTOGRAM_HEIGHT,
        xaxis=x_axis(one["x"]["title"], along(one["edges"])),
        yaxis=up,
        margin={"l": 66, "r": 14, "t": 14, "b": 52},
    )


def _outline(edges: Sequence[float], series: Data, place: int) -> Data:
    """Draw up at the first edge, along every bin, and down at the last."""
    style, heights = look(place), series["heights"]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": for_chart(series["name"]),
        "x": [edges[0], *edges, edges[-1]],
        "y": [0, *heights, *heights[-1:], 0],
        "line": {"shape": "hv", "color": f"@{style['colour']}", "width": 2, "dash": style["dash"]},
        "fill": "tozeroy",
        "fillcolor": f"@{style['colour']}:0.1",
        "hoverinfo": "skip",
    }


_POINTS_HEIGHT = 260


def points_drawn(frames: Sequence[Data]) -> Drawn:
    """Draw a chart for each frame; a given range is kept."""
    acrosses = [_given(one["x"]) or along(_all(one, "x"), log=one["x"]["log"]) for one in frames]
    downs = shared([_given(one["y"]) or along(_all(one, "y")) for one in frames])
    reaches = zip(frames, shared(acrosses), downs, strict=True)
    keys = [named(one["series"], lambda place: (look(place)["symbol"], None)) for one in frames]
    said = [remarks([], said_of(own, downs)) for own in downs]
    return Drawn([_points_chart(*three) for three in reaches], keys, said)


def _points_chart(one: Data, across: Reach, down: Reach) -> Data:
    return figure(
        [_cloud(series, place) for place, series in enumerate(one["series"])],
        _POINTS_HEIGHT,
        xaxis=x_axis(one["x"]["title"], across),
        yaxis=y_axis(one["y"]["title"], down),
        margin={"l": 66, "r": 14, "t": 14, "b": 52},
    )


def _cloud(series: Data, place: int) -> Data:
    style = look(place)
    marker = {"size": 5, "symbol": style["symbol"], "color": f"@{style['colour']}:0.5"}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": for_chart(series["name"]),
        "x": series["x"],
        "y": series["y"],
        "marker": {**marker, "line": {"width": 0}},
        "hoverinfo": "skip",
    }


def _all(one: Data, name: str) -> Iterable[float]:
    return (x for series in one["series"] for x in series[name] if x is not None)


def _given(axis: Data) -> Reach | None:
    wanted = axis.get("range")
    if not wanted:
        return None
    return bounds(wanted[0], wanted[1], log=axis.get("log", False))


_HEIGHT = 340


def bars_drawn(frames: Sequence[Data]) -> Drawn:
    """Draw a chart for each frame; a bar starts at 0, so 0 is always visible."""
    numbers = [[n for series in one["series"] for n in series["numbers"]] for one in frames]
    reaches = shared([reach(own, [0.0]) for own in numbers])
    pairs = list(zip(frames, reaches, strict=True))
    return Drawn(
        [_chart(one, own) for one, own in pairs],
        [_key(one) for one in frames],
        [_remarks(one, said_of(own, reaches)) for one, own in pairs],
    )


def _chart(one: Data, own: Reach) -> Data:
    names = [for_chart(name) for name in one["categories"]]
    axis = {
        "range": [-0.5, len(names) - 0.5],
        "tickvals": list(range(len(names))),
        "ticktext": names,
        "all": True,
        "automargin": True,
        "zeroline": False,
        "showgrid": False,
    }
    return figure(
        [_bar(one, series, place) for place, series in enumerate(one["series"])],
        _HEIGHT,
        barmode="group",
        bargap=0.3,
        xaxis={**axis, "title": {"text": ""}},
        yaxis=y_axis(one["y"]["title"], own),
        margin={"l": 66, "r": 14, "t": 14, "b": 34},
    )


def _bar(one: Data, series: Data, place: int) -> Data:
    shape, _ = pattern(place)
    drawing = {"shape": shape, "fgcolor": "@card:0.75", "fillmode": "overlay", "size": 7}
    pairs = zip(series["x"], series["numbers"], strict=True)
    texts = [f"{one['categories'][int(x)]}: {series['name']} {brief_words(n)}" for x, n in pairs]
    return {
        "type": "bar",
        "name": for_chart(series["name"]),
        "x": series["x"],
        "y": [n["value"] if has_value(n) else None for n in series["numbers"]],
        **error_bars(series["numbers"], "ink"),
        "marker": {
            "color": f"@{look(place)['colour']}:0.75",
            "pattern": drawing,
            "line": {"width": 0},
        },
        "hovertext": [for_chart(text) for text in texts],
        "hoverinfo": "text",
        "textposition": "none",
    }


def _key(one: Data) -> Markup | None:
    if len(one["series"]) < 2:
        return None
    return named(one["series"], lambda place: (pattern(place)[1], None))


def _remarks(one: Data, others: list[str]) -> Markup | None:
    missing = [
        (series["name"], one["categories"][int(x)], number.get("reason") or "undetermined")
        for series in one["series"]
        for x, number in zip(series["x"], series["numbers"], strict=True)
        if not has_value(number)
    ]
    return remarks(missing, others)
