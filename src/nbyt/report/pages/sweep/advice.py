"""The advice compared with the trainings: what it predicted of each layout, and the returns."""

from typing import NamedTuple

from nbyt.report.figures.axes import reach, x_axis, y_axis
from nbyt.report.figures.parts import figure, spread
from nbyt.report.html.element import Child, Markup, for_chart, join, tag
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart, numbers, section, table, wrap
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import known, words
from nbyt.report.pages.sweep.answer import (
    KINDS,
    advice_words,
    advised_index,
    best_index,
    colours,
    comparisons,
    finished_indices,
    sizes,
)
from nbyt.results.sweep import AdviceComparison, Kind, Sweep, SweptLayout
from nbyt.results.values import Data

_BEST = {"symbol": "star", "size": 17, "color": "@star", "line": {"width": 1, "color": "@ink"}}
_ADVISED = {"symbol": "diamond-open", "size": 18, "color": "@ink", "line": {"width": 2}}


class Row(NamedTuple):
    """A layout, what was predicted of it, what it reached, and its colour."""

    layout: SweptLayout
    predicted: Data
    reached: Data
    colour: str


def advice_section(sweep: Sweep) -> Part:
    """Show a chart for each of the two answers, and the numbers behind it."""
    title, link = "The advice compared with the trainings", "The advice"
    compared = comparisons(sweep)
    if not compared:
        why = tag("p", _why(sweep), class_="notice")
        return section("advice", title, None, why, link=link)
    charts = [_block(sweep, kind, advised) for kind, advised in compared.items()]
    lead = (
        "The advice measures the gradients of a few frozen policies, and predicts what share of "
        "the best layout's alignment each keeps. If that is what decides, the points go up from "
        "left to right."
    )
    row = wrap("div", *charts, class_="row")
    tables = join(_table(sweep, kind, advised) for kind, advised in compared.items())
    folded = numbers("The numbers", tables)
    return section("advice", title, lead, _key(sweep), row, folded, link=link)


def _why(sweep: Sweep) -> str:
    if sweep.answer.per_sample is None:
        return "No training was finished, so there is nothing to compare an advice with."
    return "There is no advice: none was asked for, or it could not be given."


def _block(sweep: Sweep, kind: Kind, advised: AdviceComparison) -> Part:
    title = KINDS[kind].capitalize()
    drawn = chart(
        f"advice-{kind}",
        f"What was reached against what was predicted, {KINDS[kind]}.",
        [_chart(sweep, kind, advised)],
        title,
    )
    correlation = shown(advised.correlation.as_dict())
    notes = [
        tag("p", "Advised: ", advice_words(advised)),
        tag("p", "Rank correlation of the two: ", correlation, "."),
    ]
    return drawn.inside(tag("div", drawn.html, *notes))


def _chart(sweep: Sweep, kind: Kind, advised: AdviceComparison) -> Data:
    shades = colours(sweep.layouts)
    rows = [
        Row(layout, predicted.as_dict(), layout.standing(kind).over_training.as_dict(), shade)
        for layout, predicted, shade in zip(sweep.layouts, advised.foretold, shades, strict=True)
        if predicted is not None and predicted.value is not None and layout.standing(kind).scores
    ]
    marks = [
        _mark(rows, sweep.layouts[best_index(sweep, kind)], _BEST),
        _mark(rows, sweep.layouts[place], _ADVISED)
        if (place := advised_index(sweep, kind)) is not None
        else None,
    ]
    return figure(
        [*map(_point, rows), *filter(None, marks)],
        340,
        xaxis=x_axis(
            "predicted: share of the best alignment", reach([row.predicted for row in rows])
        ),
        yaxis=y_axis("reached: mean return over training", reach([row.reached for row in rows])),
        margin={"l": 66, "r": 14, "t": 14, "b": 52},
    )


def _point(row: Row) -> Data:
    name = row.layout.name
    text = f"{name}: predicted {words(row.predicted)}, reached {words(row.reached)}"
    bars = {
        axis: {**spread([number]), "color": f"@{row.colour}:0.45", "width": 0}
        for axis, number in (("error_x", row.predicted), ("error_y", row.reached))
        if known(number)
    }
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [row.predicted["value"]],
        "y": [row.reached["value"]],
        "marker": {"color": f"@{row.colour}", "size": 10},
        "hovertext": [for_chart(text)],
        "hoverinfo": "text",
        **bars,
    }


def _mark(rows: list[Row], layout: SweptLayout, marker: Data) -> Data:
    """Draw a symbol around the point of one layout."""
    marked = [row for row in rows if row.layout is layout]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [row.predicted["value"] for row in marked],
        "y": [row.reached["value"] for row in marked],
        "marker": marker,
        "hoverinfo": "skip",
    }


def _key(sweep: Sweep) -> Markup:
    shades, places = colours(sweep.layouts), finished_indices(sweep)
    return key(
        *((shades[k], "circle", None, sweep.layouts[k].name) for k in places),
        ("star", "star", None, "best"),
        ("ink", "diamond-open", None, "advised"),
    )


def _table(sweep: Sweep, kind: Kind, advised: AdviceComparison) -> Markup:
    head: list[Child] = ["N × T", "predicted", "reached", "behind the best"]
    rows = []
    for layout, predicted in zip(sweep.layouts, advised.foretold, strict=True):
        standing = layout.standing(kind)
        dash = tag("span", "\u2013", class_="muted")
        cells: list[Child] = [
            layout_mark(sizes(layout)),
            dash if predicted is None else shown(predicted.as_dict()),
            shown(standing.over_training.as_dict()),
            dash if standing.behind is None else shown(standing.behind.as_dict()),
        ]
        rows.append(tag("tr", *(tag("td", cell) for cell in cells)))
    title = KINDS[kind].capitalize()
    return join([tag("h4", title), table(f"Predicted and reached, {KINDS[kind]}", head, rows)])
