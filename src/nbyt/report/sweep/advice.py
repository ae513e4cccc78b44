"""The advice beside what happened: what was foretold of each layout, and what it reached."""

from typing import Any

from nbyt.report.page.charts.parts import figure, spread
from nbyt.report.page.element import Child, Markup, join, tag
from nbyt.report.page.escape import for_chart
from nbyt.report.page.part import Part, chart, merged, numbers, section, table
from nbyt.report.page.quantity import known, layout_mark, layout_name, shown, words
from nbyt.report.study.charts.axes import Reach, reach, x_axis, y_axis
from nbyt.report.sweep.answer import advice_words
from nbyt.report.sweep.layouts import KINDS, advised_place, colours, is_known, place_of

Data = dict[str, Any]
Row = tuple[Data, Data, Data, str]
# Room that a name takes, as shares of the chart.
_WIDE, _HIGH = 0.17, 0.07


def advice_section(data: Data) -> Part:
    """A chart for each of the two answers, and the numbers behind it."""
    title = "The advice beside what happened"
    found = {kind: one for kind, one in (data["advice"] or {}).items() if one is not None}
    if not found:
        return Part(section("advice", title, None, tag("p", _why(data), class_="notice")))
    parts = merged(_block(data, kind, one) for kind, one in found.items())
    lead = (
        "The advice measures the gradients of a few frozen policies, and foretells what share of "
        "the best layout's alignment each keeps. If that is what decides, the points go up from "
        "left to right."
    )
    row = tag("div", parts.html, class_="row")
    folded = numbers("The numbers", join(_table(data, kind, one) for kind, one in found.items()))
    return parts.inside(section("advice", title, lead, row, folded))


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
        (layout, foretold, layout[kind]["over_training"], shades[place])
        for place, (layout, foretold) in enumerate(
            zip(data["layouts"], one["foretold"], strict=True)
        )
        if foretold is not None and foretold["value"] is not None and is_known(layout, kind)
    ]
    across, down = (reach([row[k] for row in rows]) for k in (1, 2))
    named = _named(data, kind, rows, across, down)
    return figure(
        [_point(*row, _side(row[1]["value"], across), row[0]["steps"] in named) for row in rows],
        340,
        xaxis=x_axis("foretold: share of the best alignment", across),
        yaxis=y_axis("reached: mean return over training", down),
        margin={"l": 66, "r": 20, "t": 14, "b": 52},
    )


def _side(x: float, across: Reach) -> str:
    """Where a point's name stands: towards the middle, so that it is not cut."""
    return "top right" if x < (across.low + across.high) / 2 else "top left"


def _named(data: Data, kind: str, rows: list[Row], across: Reach, down: Reach) -> set[int]:
    """T of the layouts whose names have room; the best and the advised come first."""
    first = [place_of(data, data["answer"][kind]), advised_place(data, kind)]
    wanted = [data["layouts"][place]["steps"] for place in first if place is not None]
    found: dict[int, tuple[float, float]] = {}
    for row in sorted(rows, key=lambda row: row[0]["steps"] not in wanted):
        x = (row[1]["value"] - across.low) / (across.high - across.low)
        y = (row[2]["value"] - down.low) / (down.high - down.low)
        if all(abs(x - a) > _WIDE or abs(y - b) > _HIGH for a, b in found.values()):
            found[row[0]["steps"]] = (x, y)
    return set(found)


def _point(
    layout: Data, foretold: Data, reached: Data, colour: str, side: str, named: bool
) -> Data:
    name = layout_name(layout)
    text = f"{name}: foretold {words(foretold)}, reached {words(reached)}"
    bars = {
        axis: {**spread([number]), "color": f"@{colour}:0.45", "width": 0}
        for axis, number in (("error_x", foretold), ("error_y", reached))
        if known(number)
    }
    return {
        "type": "scatter",
        "mode": "markers+text" if named else "markers",
        "name": name,
        "x": [foretold["value"]],
        "y": [reached["value"]],
        "text": [name],
        "textposition": side,
        "cliponaxis": False,
        "textfont": {"size": 11, "color": "@ink"},
        "marker": {"color": f"@{colour}", "size": 9},
        "hovertext": [for_chart(text)],
        "hoverinfo": "text",
        **bars,
    }


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
