"""The advice compared with the trainings: the losses it expected, and the returns."""

from typing import NamedTuple

from nbyt.report.figures.axes import reach, x_axis, y_axis
from nbyt.report.figures.parts import MARGIN, figure, scatter, spread
from nbyt.report.html.element import Child, Markup, join, tag
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart, numbers, row, section, table, wrap
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
    kinds_of,
    leader,
)
from nbyt.results.sweep import AdviceComparison, Sweep, SweptLayout
from nbyt.results.values import Data, Estimate, Kind


class Row(NamedTuple):
    """A layout, what was predicted of it, what it reached, and its colour."""

    layout: SweptLayout
    predicted: Estimate
    reached: Estimate
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
        "What nbyt advise would have said: for the same samples the T that loses least on the "
        "reference tasks; for the same time a race of quarter trainings, replayed on the first "
        "seeds of this sweep. If its expectations come true, the points go down from left to "
        "right."
    )
    drawn = wrap("div", *charts, class_="row")
    tables = join(_table(sweep, kind, advised) for kind, advised in compared.items())
    folded = numbers("The numbers", tables)
    return section("advice", title, lead, _key(sweep), drawn, folded, link=link)


def _why(sweep: Sweep) -> str:
    if sweep.answer.per_sample is None:
        return "No training was finished, so there is nothing to compare an advice with."
    return "There is no advice: none was asked for, or there are too few layouts or seeds."


def _block(sweep: Sweep, kind: Kind, advised: AdviceComparison) -> Part:
    title = KINDS[kind].capitalize()
    drawn = chart(
        f"advice-{kind}",
        f"What was reached against the loss that was expected, {KINDS[kind]}.",
        [_chart(sweep, kind, advised)],
        title,
    )
    notes = [
        tag("p", "Advised: ", advice_words(advised)),
        tag(
            "p",
            "Rank correlation of what was kept and what was reached: ",
            shown(advised.correlation),
            ".",
        ),
    ]
    return drawn.inside(tag("div", drawn.html, *notes))


def _chart(sweep: Sweep, kind: Kind, advised: AdviceComparison) -> Data:
    shades = colours(sweep.layouts)
    rows = [
        Row(layout, predicted, layout.standing(kind).over_training, shade)
        for layout, predicted, shade in zip(sweep.layouts, advised.foretold, shades, strict=True)
        if predicted is not None and predicted.value is not None and layout.standing(kind).scores
    ]
    return figure(
        [*map(_point, rows), *_marks(sweep, kind, rows)],
        340,
        xaxis=x_axis(
            "expected loss against the best layout", reach([each.predicted for each in rows])
        ),
        yaxis=y_axis("reached: mean return over training", reach([each.reached for each in rows])),
        margin=MARGIN,
    )


def _point(point: Row) -> Data:
    name = point.layout.name
    text = f"{name}: expected loss {words(point.predicted)}, reached {words(point.reached)}"
    bars = {
        axis: {**spread([number], f"{point.colour}:0.45"), "width": 0}
        for axis, number in (("error_x", point.predicted), ("error_y", point.reached))
        if known(number)
    }
    marker = {"color": f"@{point.colour}", "size": 10}
    x, y = [point.predicted.value], [point.reached.value]
    return {**scatter(x, y, name, [text], marker=marker), **bars}


def _marks(sweep: Sweep, kind: Kind, rows: list[Row]) -> list[Data]:
    """Draw symbols around the points of the best and the advised layout."""
    edge = {"width": 1, "color": "@ink"}
    best = {"symbol": "star", "size": 17, "color": "@star", "line": edge}
    advised = {"symbol": "diamond-open", "size": 18, "color": "@ink", "line": {"width": 2}}
    traces = []
    for place, look in ((best_index(sweep, kind), best), (advised_index(sweep, kind), advised)):
        if place is not None:
            marked = [each for each in rows if each.layout is sweep.layouts[place]]
            x = [each.predicted.value for each in marked]
            traces.append(scatter(x, [each.reached.value for each in marked], marker=look))
    return traces


def _key(sweep: Sweep) -> Markup:
    shades, places = colours(sweep.layouts), finished_indices(sweep)
    return key(
        *((shades[k], "circle", None, sweep.layouts[k].name) for k in places),
        ("star", "star", None, leader(sweep, kinds_of(sweep)[0])),
        ("ink", "diamond-open", None, "advised"),
    )


def _table(sweep: Sweep, kind: Kind, advised: AdviceComparison) -> Markup:
    head: list[Child] = ["N × T", "expected loss", "reached", "behind the best"]
    rows = []
    for layout, predicted in zip(sweep.layouts, advised.foretold, strict=True):
        standing = layout.standing(kind)
        dash = tag("span", "\u2013", class_="muted")
        rows.append(
            row(
                layout_mark(layout),
                dash if predicted is None else shown(predicted),
                shown(standing.over_training),
                dash if standing.behind is None else shown(standing.behind),
            )
        )
    title = KINDS[kind].capitalize()
    return join([tag("h4", title), table(f"Expected and reached, {KINDS[kind]}", head, rows)])
