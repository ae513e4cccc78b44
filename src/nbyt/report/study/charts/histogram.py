"""Histograms over the same bins, as outlines that may lie over each other."""

from collections.abc import Sequence

from nbyt.report.page.charts.parts import figure
from nbyt.report.page.escape import for_chart
from nbyt.report.study.charts.axes import Reach, along, said_of, shared, x_axis, y_axis
from nbyt.report.study.charts.drawn import Drawn, remarks
from nbyt.report.study.charts.looks import look, named
from nbyt.results.values import Data

_HEIGHT = 320


def histogram_drawn(frames: Sequence[Data]) -> Drawn:
    """A chart for each frame."""
    heights = [[h for series in one["series"] for h in series["heights"]] for one in frames]
    tops = shared([along([0.0, *own]) for own in heights])
    charts = [_chart(one, top) for one, top in zip(frames, tops, strict=True)]
    keys = [named(one["series"], lambda place: ("none", look(place)["dash"])) for one in frames]
    return Drawn(charts, keys, [remarks([], said_of(own, tops)) for own in tops])


def _chart(one: Data, top: Reach) -> Data:
    up = {**y_axis(one["y"]["title"], top), "range": [0.0, top.range[1]]}
    return figure(
        [_outline(one["edges"], series, place) for place, series in enumerate(one["series"])],
        _HEIGHT,
        xaxis=x_axis(one["x"]["title"], along(one["edges"])),
        yaxis=up,
        margin={"l": 66, "r": 14, "t": 14, "b": 52},
    )


def _outline(edges: Sequence[float], series: Data, place: int) -> Data:
    """Up at the first edge, along every bin, down at the last."""
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
