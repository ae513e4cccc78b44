"""Probability of improvement: of the best over each layout, and of each over a default."""

from nbyt.report.figures.parts import figure, level, scatter, spread, steps_axis, value_axis
from nbyt.report.html.element import Child, Markup, tag
from nbyt.report.html.page import Part, chart_place, numbers, section, slider_bar, table, wrap
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import words
from nbyt.report.pages.sweep.answer import (
    best_index,
    colours,
    finished_indices,
    kinds_of,
    layout_label,
    roles,
)
from nbyt.results.sweep import Sweep, SweptLayout
from nbyt.results.values import Data, Estimate, Kind

_SLIDER = "slider-wins"
_KIND: Kind = "per_sample"


def wins_section(sweep: Sweep) -> Part:
    """Show a chart whose slider chooses the layout to compare with, and all pairs in a table."""
    title, link = "Probability of improvement", "Improvement"
    if not kinds_of(sweep) or not sweep.wins.per_sample:
        return section("wins", title, "No training was finished.", link=link)
    places = _opponents(sweep)
    if not places:
        return section("wins", title, "There is one layout only.", link=link)
    labels = [layout_label(sweep, _KIND, place) for place in places]
    frames = [_chart(sweep, place) for place in places]
    about = "The probability that a training of each layout beats one of the chosen layout."
    drawn = chart_place("wins", about, frames, _SLIDER)
    bar = slider_bar(_SLIDER, "Compared with", labels)
    inside = wrap("div", bar, drawn, class_="slides", role="group")
    lead = (
        "How probable it is that a training of a layout ends with a higher mean return over "
        "training than one of the chosen layout, whatever their seeds; ties count half. Above a "
        "half it is better; where the interval holds a half, the seeds do not decide."
    )
    folded = numbers("All pairs", _pairs(sweep))
    return section("wins", title, lead, inside, folded, link=link)


def _opponents(sweep: Sweep) -> list[int]:
    """Return the best layout, then those nearest to libraries' defaults and to the advice."""
    finished = finished_indices(sweep)
    best = best_index(sweep, _KIND)
    special = [place for place in finished if place != best and roles(sweep, _KIND, place)]
    return [best, *special] if len(finished) > 1 else []


def _chart(sweep: Sweep, against: int) -> Data:
    shades, wins = colours(sweep.layouts), sweep.wins.per_sample or ()
    other = sweep.layouts[against].name
    points = [
        _point(sweep.layouts[place], number, shades[place], other)
        for place in finished_indices(sweep)
        if (number := wins[place][against]) is not None
    ]
    return figure(
        points,
        320,
        xaxis=steps_axis(sweep.layouts),
        yaxis=value_axis(f"beats {other} (%)", range=[-4, 104], zeroline=False),
        shapes=[level(50)],
    )


def _point(layout: SweptLayout, wins: Estimate, colour: str, other: str) -> Data:
    text = f"{layout.name} beats {other}: {words(wins, 100, ' %')}"
    marker, bars = {"color": f"@{colour}", "size": 9}, spread([wins], colour, 100)
    y = [None if wins.value is None else 100 * wins.value]
    return scatter([layout.steps], y, layout.name, [text], marker=marker, error_y=bars)


def _pairs(sweep: Sweep) -> Markup:
    places, wins = finished_indices(sweep), sweep.wins.per_sample or ()
    marks = {place: layout_mark(sweep.layouts[place]) for place in places}
    head: list[Child] = ["beats", *marks.values()]
    rows = [
        tag(
            "tr",
            tag("th", marks[first], scope="row"),
            *(_cell(wins[first][second]) for second in places),
        )
        for first in places
    ]
    return table("Probability that the row's layout beats the column's", head, rows, class_="pairs")


def _cell(wins: Estimate | None) -> Markup:
    if wins is None:
        return tag("td", "\u2013", class_="self")
    return tag("td", shown(wins, 100, " %"))
