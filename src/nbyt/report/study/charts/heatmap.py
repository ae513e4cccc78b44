"""A table of colours: one colour for values of one sign, two around 0."""

from collections.abc import Sequence
from math import ceil

from nbyt.report.page.charts.parts import figure
from nbyt.report.page.escape import for_chart
from nbyt.report.study.charts.drawn import Data, Drawn
from nbyt.report.study.number import short

_LINE, _LEAST, _MOST = 26, 230, 460  # pixels: of a row, and of the whole
_AROUND = 90  # pixels of what stands around the cells
_LABEL = 15  # pixels that a row's words need
_ONE = [[0, "@heat-none"], [0.5, "@heat-some"], [1, "@heat-most"]]
_TWO = [
    [0, "@heat-minus-most"],
    [0.25, "@heat-minus-some"],
    [0.5, "@heat-none"],
    [0.75, "@heat-some"],
    [1, "@heat-most"],
]


def heatmap_drawn(frames: Sequence[Data]) -> Drawn:
    """A chart for each frame, all with the same colours for the same values."""
    low, high = _ends(frames)
    nothing = [None] * len(frames)
    return Drawn([_chart(one, low, high) for one in frames], list(nothing), list(nothing))


def _ends(frames: Sequence[Data]) -> tuple[float, float]:
    """The ends of the scale that are given, or those of all values."""
    values = [x for one in frames for row in one["values"] for x in row if x is not None]
    lows = [one["scale"]["low"] for one in frames if one["scale"]["low"] is not None]
    highs = [one["scale"]["high"] for one in frames if one["scale"]["high"] is not None]
    low = min(lows) if lows else min(values, default=0.0)
    high = max(highs) if highs else max(values, default=1.0)
    if low < 0 < high and not lows and not highs:
        low, high = -max(-low, high), max(-low, high)
    return low, high if high > low else low + 1.0


def _chart(one: Data, low: float, high: float) -> Data:
    values = one["values"]
    height = min(max(_AROUND + _LINE * len(values), _LEAST), _MOST)
    return figure(
        [_cells(one, low, high)],
        height,
        xaxis=_columns(one),
        yaxis=_rows(one, height),
        margin={"l": 24, "r": 10, "t": 10, "b": 34},
    )


def _cells(one: Data, low: float, high: float) -> Data:
    many = max((len(row) for row in one["values"]), default=0) * len(one["values"]) > 400
    return {
        "type": "heatmap",
        "z": one["values"],
        "zmin": low,
        "zmax": high,
        "colorscale": _TWO if low == -high else _ONE,
        "xgap": 0 if many else 1,
        "ygap": 0 if many else 1,
        "hovertext": _texts(one),
        "hoverinfo": "text",
        "hoverongaps": False,
        "text": _written(one),
        "texttemplate": "%{text}" if one["written"] else "",
        "textfont": {"size": 11},
        "colorbar": {
            "title": {"text": for_chart(one["scale"]["title"]), "side": "right"},
            "thickness": 12,
            "outlinewidth": 0,
            "len": 1,
            "xpad": 8,
            "ypad": 0,
            "nticks": 6,
        },
    }


def _written(one: Data) -> list[list[str]] | None:
    if not one["written"]:
        return None
    return [["" if x is None else f"{x:.2g}" for x in row] for row in one["values"]]


def _texts(one: Data) -> list[list[str]]:
    return [
        [for_chart(_text(one, r, c, x)) for c, x in enumerate(row)]
        for r, row in enumerate(one["values"])
    ]


def _text(one: Data, row: int, column: int, value: float | None) -> str:
    names = [
        some[place] if place < len(some) else str(place)
        for some, place in ((one["rows"], row), (one["columns"], column))
    ]
    return f"{', '.join(names)}: {'undetermined' if value is None else short(value)}"


def _columns(one: Data) -> Data:
    count = max((len(row) for row in one["values"]), default=1)
    names = one["columns"]
    return {
        "title": {"text": for_chart(one.get("x_title", ""))},
        "range": [-0.5, count - 0.5],
        "tickvals": list(range(len(names))),
        "ticktext": [for_chart(name) for name in names],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": True,
    }


def _rows(one: Data, height: int) -> Data:
    """The first row on top; words that would lie over each other are left out."""
    count = len(one["values"])
    step = max(1, ceil(_LABEL * count / (height - _AROUND)))
    kept = list(range(0, len(one["rows"]), step))
    return {
        "title": {"text": for_chart(one.get("y_title", ""))},
        "range": [count - 0.5, -0.5],
        "tickvals": kept,
        "ticktext": [for_chart(one["rows"][k]) for k in kept],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": True,
    }
