"""The advice beside what happened: what was foretold of each layout, and what it reached."""

from typing import NamedTuple

from nbyt.report.figures.axes import reach, x_axis, y_axis
from nbyt.report.figures.parts import figure, spread
from nbyt.report.html.element import Child, Markup, for_chart, join, tag
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart, numbers, section, table, wrap
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import known, layout_name, words
from nbyt.report.pages.sweep.answer import (
    KINDS,
    advice_words,
    advised_index,
    colours,
    index_of,
    is_known,
)
from nbyt.results.values import Data

_BEST = {"symbol": "star", "size": 17, "color": "@star", "line": {"width": 1, "color": "@ink"}}
_ADVISED = {"symbol": "diamond-open", "size": 18, "color": "@ink", "line": {"width": 2}}


class Row(NamedTuple):
    """A layout, what was foretold of it, what it reached, and its colour."""

    layout: Data
    foretold: Data
    reached: Data
    colour: str


def advice_section(data: Data) -> Part:
    """A chart for each of the two answers, and the numbers behind it."""
    title, link = "The advice beside what happened", "The advice"
    found = {kind: one for kind, one in (data["advice"] or {}).items() if one is not None}
    if not found:
        why = tag("p", _why(data), class_="notice")
        return section("advice", title, None, why, link=link)
    charts = [_block(data, kind, one) for kind, one in found.items()]
    lead = (
        "The advice measures the gradients of a few frozen policies, and foretells what share of "
        "the best layout's alignment each keeps. If that is what decides, the points go up from "
        "left to right."
    )
    places = [k for k, one in enumerate(data["layouts"]) if is_known(one, "per_sample")]
    row = wrap("div", *charts, class_="row")
    folded = numbers("The numbers", join(_table(data, kind, one) for kind, one in found.items()))
    return section("advice", title, lead, _key(data, places), row, folded, link=link)


def _why(data: Data) -> str:
    if data["answer"]["per_sample"] is None:
        return "No training was finished, so there is nothing to hold an advice against."
    return "No advice stands beside this sweep: none was asked for, or it could not be given."


def _block(data: Data, kind: str, one: Data) -> Part:
    title = KINDS[kind].capitalize()
    drawn = chart(
        f"advice-{kind}",
        f"What was reached against what was foretold, {KINDS[kind]}.",
        [_chart(data, kind, one)],
        title,
    )
    said = [
        tag("p", "Advised: ", advice_words(one)),
        tag("p", "Rank correlation of the two: ", shown(one["correlation"]), "."),
    ]
    return drawn.inside(tag("div", drawn.html, *said))


def _chart(data: Data, kind: str, one: Data) -> Data:
    shades = colours(data["layouts"])
    rows = [
        Row(layout, foretold, layout[kind]["over_training"], shades[place])
        for place, (layout, foretold) in enumerate(
            zip(data["layouts"], one["foretold"], strict=True)
        )
        if foretold is not None and foretold["value"] is not None and is_known(layout, kind)
    ]
    marks = [
        _mark(rows, index_of(data, data["answer"][kind]), data, _BEST),
        _mark(rows, advised_index(data, kind), data, _ADVISED),
    ]
    return figure(
        [*(_point(row) for row in rows), *(one for one in marks if one is not None)],
        340,
        xaxis=x_axis(
            "foretold: share of the best alignment", reach([row.foretold for row in rows])
        ),
        yaxis=y_axis("reached: mean return over training", reach([row.reached for row in rows])),
        margin={"l": 66, "r": 14, "t": 14, "b": 52},
    )


def _point(row: Row) -> Data:
    name = layout_name(row.layout)
    text = f"{name}: foretold {words(row.foretold)}, reached {words(row.reached)}"
    bars = {
        axis: {**spread([number]), "color": f"@{row.colour}:0.45", "width": 0}
        for axis, number in (("error_x", row.foretold), ("error_y", row.reached))
        if known(number)
    }
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [row.foretold["value"]],
        "y": [row.reached["value"]],
        "marker": {"color": f"@{row.colour}", "size": 10},
        "hovertext": [for_chart(text)],
        "hoverinfo": "text",
        **bars,
    }


def _mark(rows: list[Row], place: int | None, data: Data, marker: Data) -> Data | None:
    """A symbol around the point of one layout."""
    if place is None:
        return None
    steps = data["layouts"][place]["steps"]
    own = [row for row in rows if row.layout["steps"] == steps]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [row.foretold["value"] for row in own],
        "y": [row.reached["value"] for row in own],
        "marker": marker,
        "hoverinfo": "skip",
    }


def _key(data: Data, places: list[int]) -> Markup:
    shades = colours(data["layouts"])
    return key(
        *((shades[k], "circle", None, layout_name(data["layouts"][k])) for k in places),
        ("star", "star", None, "best"),
        ("ink", "diamond-open", None, "advised"),
    )


def _table(data: Data, kind: str, one: Data) -> Markup:
    head: list[Child] = ["N × T", "foretold", "reached", "behind the best"]
    rows = []
    for layout, foretold in zip(data["layouts"], one["foretold"], strict=True):
        own = layout[kind]
        dash = tag("span", "\u2013", class_="muted")
        cells: list[Child] = [
            layout_mark(layout),
            dash if foretold is None else shown(foretold),
            shown(own["over_training"]),
            dash if own["behind"] is None else shown(own["behind"]),
        ]
        rows.append(tag("tr", *(tag("td", cell) for cell in cells)))
    title = KINDS[kind].capitalize()
    return join([tag("h4", title), table(f"Foretold and reached, {KINDS[kind]}", head, rows)])
