"""Bars with intervals, beside each other for several series."""

from collections.abc import Sequence

from nbyt.report.page.charts.parts import figure
from nbyt.report.page.element import Markup
from nbyt.report.page.escape import for_chart
from nbyt.report.study.charts.axes import Reach, reach, said_of, shared, y_axis
from nbyt.report.study.charts.drawn import Drawn, error_bars, remarks
from nbyt.report.study.charts.looks import look, named, pattern
from nbyt.report.study.number import has_value, words
from nbyt.results.values import Data

_HEIGHT = 340


def bars_drawn(frames: Sequence[Data]) -> Drawn:
    """A chart for each frame; a bar starts at 0, so that is always seen."""
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
    texts = [f"{one['categories'][int(x)]}: {series['name']} {words(n)}" for x, n in pairs]
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
