"""Probability of improvement: of the best over each layout, and of each over a default."""

from nbyt.report.figures.parts import figure, spread, steps_axis, value_axis
from nbyt.report.html.element import Child, Markup, for_chart, tag
from nbyt.report.html.page import Part, chart_place, numbers, section, slider_bar, table, wrap
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import layout_name, words
from nbyt.report.pages.sweep.answer import best_index, colours, is_known, kinds_of, roles
from nbyt.results.values import Data

_SLIDER = "slider-wins"
_KIND = "per_sample"


def wins_section(data: Data) -> Part:
    """A chart whose slider chooses the layout that all are held against; all pairs in a table."""
    title, link = "Probability of improvement", "Improvement"
    if not kinds_of(data) or not data["wins"][_KIND]:
        return section("wins", title, "No training was finished.", link=link)
    places = _held_against(data)
    if not places:
        return section("wins", title, "There is one layout only.", link=link)
    said = [_said(data, place) for place in places]
    frames = [_chart(data, place) for place in places]
    about = "The probability that a training of each layout beats one of the chosen layout."
    drawn = chart_place("wins", about, frames, _SLIDER)
    bar = slider_bar(_SLIDER, "Held against", said)
    inside = wrap("div", bar, drawn, class_="slides", role="group")
    lead = (
        "How probable it is that a training of a layout ends with a higher mean return over "
        "training than one of the chosen layout, whatever their seeds; ties count half. Above a "
        "half it is better; where the interval holds a half, nobody can say."
    )
    folded = numbers("All pairs", _pairs(data))
    return section("wins", title, lead, inside, folded, link=link)


def _held_against(data: Data) -> list[int]:
    """The best layout first, then those that stand for libraries' defaults and for the advice."""
    known = [k for k, one in enumerate(data["layouts"]) if is_known(one, _KIND)]
    best = best_index(data, _KIND)
    special = [k for k in known if k != best and roles(data, _KIND, k)]
    return [best, *special] if len(known) > 1 else []


def _said(data: Data, place: int) -> str:
    name = layout_name(data["layouts"][place])
    return f"{name}, {', '.join(roles(data, _KIND, place))}"


def _chart(data: Data, against: int) -> Data:
    shades = colours(data["layouts"])
    rows = [
        (one, data["wins"][_KIND][place][against], shades[place])
        for place, one in enumerate(data["layouts"])
        if place != against and is_known(one, _KIND)
    ]
    other = layout_name(data["layouts"][against])
    return figure(
        [_point(*row, other) for row in rows],
        320,
        xaxis=steps_axis(data["layouts"]),
        yaxis=value_axis(f"beats {other} (%)", range=[-4, 104], zeroline=False),
        shapes=[
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": 50,
                "y1": 50,
                "layer": "below",
                "line": {"color": "@ink:0.55", "width": 1.2, "dash": "dash"},
            }
        ],
    )


def _point(layout: Data, number: Data, colour: str, other: str) -> Data:
    name = layout_name(layout)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [layout["steps"]],
        "y": [100 * number["value"]],
        "error_y": {**spread([number], 100), "color": f"@{colour}"},
        "marker": {"color": f"@{colour}", "size": 9},
        "hovertext": [for_chart(f"{name} beats {other}: {words(number, 100, ' %')}")],
        "hoverinfo": "text",
    }


def _pairs(data: Data) -> Markup:
    places = [k for k, one in enumerate(data["layouts"]) if is_known(one, _KIND)]
    head: list[Child] = ["beats", *(layout_mark(data["layouts"][k]) for k in places)]
    rows = [
        tag(
            "tr",
            tag("th", layout_mark(data["layouts"][first]), scope="row"),
            *(_cell(data["wins"][_KIND][first][second]) for second in places),
        )
        for first in places
    ]
    return table("Probability that the row's layout beats the column's", head, rows, class_="pairs")


def _cell(number: Data | None) -> Markup:
    if number is None:
        return tag("td", "\u2013", class_="self")
    return tag("td", shown(number, 100, " %"))
