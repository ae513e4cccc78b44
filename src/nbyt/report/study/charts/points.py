"""Many points as a cloud."""

from collections.abc import Iterable, Sequence

from nbyt.report.page.charts.parts import figure
from nbyt.report.page.escape import for_chart
from nbyt.report.study.charts.axes import Reach, along, bounds, said_of, shared, x_axis, y_axis
from nbyt.report.study.charts.drawn import Drawn, remarks
from nbyt.report.study.charts.looks import look, named
from nbyt.results.values import Data

_HEIGHT = 260


def points_drawn(frames: Sequence[Data]) -> Drawn:
    """A chart for each frame; a range that is given is kept."""
    acrosses = [_given(one["x"]) or along(_all(one, "x"), log=one["x"]["log"]) for one in frames]
    downs = shared([_given(one["y"]) or along(_all(one, "y")) for one in frames])
    reaches = zip(frames, shared(acrosses), downs, strict=True)
    keys = [named(one["series"], lambda place: (look(place)["symbol"], None)) for one in frames]
    said = [remarks([], said_of(own, downs)) for own in downs]
    return Drawn([_chart(*three) for three in reaches], keys, said)


def _chart(one: Data, across: Reach, down: Reach) -> Data:
    return figure(
        [_cloud(series, place) for place, series in enumerate(one["series"])],
        _HEIGHT,
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
