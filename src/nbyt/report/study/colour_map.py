"""A table of colours with its values written into the cells: a table of HTML, not a chart."""

from math import floor, log10

from nbyt.report.page.element import Markup, join, tag
from nbyt.report.page.part import table
from nbyt.report.study.charts.drawn import remarks
from nbyt.report.study.charts.scale import AxisScale, blank
from nbyt.results.values import Data

_MOST_DECIMALS = 4


def colour_map(one: Data, scale: AxisScale) -> Markup:
    """The scale, and a cell for each value."""
    decimals = _decimals(one)
    words = " \\ ".join(filter(None, (one["y_title"], one["x_title"])))
    columns = max((len(row) for row in one["values"]), default=0)
    head = [words, *(_name(one["columns"], k) for k in range(columns))]
    rows = [
        tag(
            "tr",
            tag("th", _name(one["rows"], k), scope="row"),
            *(_cell(value, scale, decimals) for value in row),
        )
        for k, row in enumerate(one["values"])
    ]
    body = table(one["title"], head, rows, class_="map")
    empty = remarks([], ["Empty cells are undetermined."] * blank(one))
    return join([scale.sample("written"), body, empty])


def _name(names: list[str], place: int) -> str:
    return str(names[place]) if place < len(names) else str(place)


def _cell(value: float | None, scale: AxisScale, decimals: int) -> Markup:
    if value is None:
        return tag("td", "", class_="unknown")
    look = "negative" if scale.two and value < 0 else "positive"
    said = f"{value:.{decimals}f}".replace("-", "\u2212")
    return tag("td", said, class_=look, style=f"--depth:{scale.depth(value):.3f}")


def _decimals(one: Data) -> int:
    """As many for all cells as give the largest three digits, without zeros that all end in."""
    values = [x for row in one["values"] for x in row if x]
    if not values:
        return 0
    most = min(max(2 - floor(log10(max(map(abs, values)))), 0), _MOST_DECIMALS)
    exact = [d for d in range(most) if all(round(x, d) == round(x, most) for x in values)]
    return min([*exact, most])
