"""Draw tables of colours: one colour for values of one sign, two around 0."""

from collections.abc import Sequence
from math import ceil, floor, log10

from nbyt.report.figures.drawn import AxisScale, Drawn, empty_cells, scale_of
from nbyt.report.figures.parts import figure
from nbyt.report.html.element import Markup, for_chart, join, tag
from nbyt.report.html.page import table
from nbyt.report.numbers import short
from nbyt.results.study import Heatmap
from nbyt.results.values import Data

_MOST_DECIMALS = 4


def colour_map(one: Heatmap, scale: AxisScale) -> Markup:
    """Build the scale and an HTML table with a cell for each value."""
    decimals = _decimals(one)
    words = " \\ ".join(filter(None, (one.y_title, one.x_title)))
    columns = max((len(row) for row in one.values), default=0)
    head = [words, *(_name(one.columns, k) for k in range(columns))]
    rows = [
        tag(
            "tr",
            tag("th", _name(one.rows, k), scope="row"),
            *(_cell(value, scale, decimals) for value in row),
        )
        for k, row in enumerate(one.values)
    ]
    body = table(one.title, head, rows, class_="map")
    return join([scale.sample("written"), body, empty_cells(one)])


def _name(names: Sequence[str], place: int) -> str:
    return names[place] if place < len(names) else str(place)


def _cell(value: float | None, scale: AxisScale, decimals: int) -> Markup:
    if value is None:
        return tag("td", "", class_="unknown")
    look = "negative" if scale.two and value < 0 else "positive"
    said = f"{value:.{decimals}f}".replace("-", "\u2212")
    return tag("td", said, class_=look, style=f"--depth:{scale.depth(value):.3f}")


def _decimals(one: Heatmap) -> int:
    """Choose decimals for all cells: three digits of the largest, no common trailing zeros."""
    values = [x for row in one.values for x in row if x]
    if not values:
        return 0
    most = min(max(2 - floor(log10(max(map(abs, values)))), 0), _MOST_DECIMALS)
    exact = [d for d in range(most) if all(round(x, d) == round(x, most) for x in values)]
    return min([*exact, most])


_LINE, _LEAST, _MOST = 32, 230, 440  # pixels: of a row, and of the whole
_AROUND = 80  # pixels of what stands around the cells
_LABEL = 15  # pixels that a row's words need
_WIDE = 70  # pixels that a column may have
_MANY = 400  # cells that need no lines between them
_ONE = [[0, "@heat-none"], [0.5, "@heat-some"], [1, "@heat-most"]]
_TWO = [
    [0, "@heat-minus-most"],
    [0.25, "@heat-minus-some"],
    [0.5, "@heat-none"],
    [0.75, "@heat-some"],
    [1, "@heat-most"],
]


def heatmap_drawn(frames: Sequence[Heatmap]) -> Drawn:
    """Draw a chart for each frame, all with the same colours for the same values."""
    scale = scale_of(frames)
    return Drawn(
        [_chart(one, scale) for one in frames],
        [scale.sample("cells")] * len(frames),
        [empty_cells(one) for one in frames],
        widest=max(_widest(one) for one in frames),
    )


def _height(one: Heatmap) -> int:
    return min(max(_AROUND + _LINE * len(one.values), _LEAST), _MOST)


def _widest(one: Heatmap) -> int:
    """Limit the width so that cells are not stretched."""
    if _is_square(one):
        return _height(one) + _AROUND
    return max(320, 2 * _AROUND + _WIDE * _count(one))


def _count(one: Heatmap) -> int:
    return max((len(row) for row in one.values), default=1)


def _is_square(one: Heatmap) -> bool:
    return len(one.values) == _count(one)


def _chart(one: Heatmap, scale: AxisScale) -> Data:
    height = _height(one)
    rows = _rows(one, height)
    if _is_square(one):
        rows |= {"scaleanchor": "x", "scaleratio": 1}
        rows |= {"constrain": "domain", "constraintoward": "top"}
    return figure(
        [_cells(one, scale)],
        height,
        xaxis={**_columns(one), "constrain": "domain", "constraintoward": "left"},
        yaxis=rows,
        margin={"l": 30, "r": 10, "t": 10, "b": 40},
        square=_is_square(one),
    )


def _cells(one: Heatmap, scale: AxisScale) -> Data:
    gap = 0 if _count(one) * len(one.values) > _MANY else 1
    return {
        "type": "heatmap",
        "z": one.values,
        "zmin": scale.low,
        "zmax": scale.high,
        "colorscale": _TWO if scale.two else _ONE,
        "showscale": False,
        "xgap": gap,
        "ygap": gap,
        "hovertext": [
            [_text(one, r, c, x) for c, x in enumerate(row)] for r, row in enumerate(one.values)
        ],
        "hoverinfo": "text",
        "hoverongaps": False,
    }


def _text(one: Heatmap, row: int, column: int, value: float | None) -> str:
    said = "undetermined" if value is None else short(value)
    return for_chart(f"{_name(one.rows, row)}, {_name(one.columns, column)}: {said}")


def _columns(one: Heatmap) -> Data:
    return _axis(one.x_title, [-0.5, _count(one) - 0.5], dict(enumerate(one.columns)))


def _rows(one: Heatmap, height: int) -> Data:
    """Build the axis with the first row on top; words that would overlap are left out."""
    count = len(one.values)
    step = max(1, ceil(_LABEL * count / (height - _AROUND)))
    kept = {k: one.rows[k] for k in range(0, len(one.rows), step)}
    return _axis(one.y_title, [count - 0.5, -0.5], kept)


def _axis(title: str, ends: list[float], ticks: dict[int, str]) -> Data:
    return {
        "title": {"text": for_chart(title)},
        "range": ends,
        "tickvals": list(ticks),
        "ticktext": [for_chart(name) for name in ticks.values()],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": True,
    }
