"""All layouts, best first, with the libraries' defaults; and the cost of an update."""

from collections.abc import Sequence

from nbyt.report.figures.parts import figure, line, scatter, steps_axis, value_axis
from nbyt.report.html.element import Child, Markup, join, tag
from nbyt.report.html.glossary import term
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart, numbers, row, section, switch, switched, table
from nbyt.report.html.quantity import layout_mark, reasons_of, shown
from nbyt.report.numbers import known, share
from nbyt.results.advice import Advice, Answer, Costs, RankedLayout
from nbyt.results.measurement import MeasuredLayout
from nbyt.results.values import Data, Kind, Number

_LOOK = {"colour": "blue", "dash": "solid", "symbol": "circle"}


def cost_chart(layouts: Sequence[MeasuredLayout], costs: Costs) -> Data:
    """Return the milliseconds of an update: the line is fitted, the crosses were timed."""
    numbers = [one.seconds for one in layouts]
    return figure(
        [*line(layouts, numbers, "seconds an update", _LOOK, 1000), _timed(costs)],
        320,
        xaxis=steps_axis(layouts),
        yaxis=value_axis("milliseconds an update", rangemode="tozero"),
    )


def _timed(costs: Costs) -> Data:
    rows = [(envs, steps, seconds) for envs, steps, every in costs.timed for seconds in every]
    look = {"symbol": "x-thin", "size": 8, "line": {"width": 1.5, "color": "@vermillion"}}
    return scatter(
        [steps for _, steps, _ in rows],
        [1000 * seconds for _, _, seconds in rows],
        "timed",
        [f"timed, {envs}x{steps}: {1000 * seconds:.1f} ms" for envs, steps, seconds in rows],
        marker=look,
    )


def cost_section(data: Advice) -> Part:
    """Return the seconds of an update for every T, and the updates that were timed."""
    if data.costs is None:
        words = "The cost of an update was not measured."
        return section("cost", "Cost", words, link="Cost")
    lead = (
        "Time of one update (collect a batch, run all epochs) on the machine named below. Each "
        "cross is an update that was timed; the line goes through them, its band is the 95 % "
        "interval."
    )
    marks = key(("blue", "circle", "solid", "estimated"), ("vermillion", "cross", None, "timed"))
    layouts = data.stages[0].layouts
    charts = [cost_chart(layouts, data.costs)]
    drawn = chart("cost", "Milliseconds of an update against T.", charts)
    missing = reasons_of(("seconds", one.steps, one.seconds) for one in layouts)
    rows = [row(layout_mark(one), shown(one.seconds, 1000, " ms")) for one in layouts]
    folded = numbers("The numbers", table("Cost of an update", ["N × T", "an update"], rows))
    return section("cost", "Cost", lead, marks, drawn, missing, folded, link="Cost")


_NAMED = 2
_KINDS: dict[Kind, str] = {"per_sample": "Per sample", "per_second": "Per second"}


def ranking_section(data: Advice) -> Part:
    """Return a table for each answer, one of them shown at a time."""
    answers = {kind: one for kind in _KINDS if (one := data.advice.of(kind)) is not None}
    start: Kind = "per_second" if data.per == "second" and len(answers) > 1 else "per_sample"
    own = data.current.per_sample.steps if data.current else None
    blocks = [
        switched(kind, _KINDS[kind], ranking_table(one, own), start)
        for kind, one in answers.items()
    ]
    lead = join(
        [
            "Best first, over all stages. The bar is the ",
            term("interval"),
            " of the ",
            term("relative"),
            ", cut to what lies between 0 and 1, and the tick its value.",
        ]
    )
    chooser = switch({kind: _KINDS[kind] for kind in answers}, start, "Ranked by")
    return section("ranking", "The ranking", lead, chooser, *blocks, link="Ranking")


def ranking_table(answer: Answer, own: int | None = None) -> Markup:
    """Return the places as a table. own: T of the user's layout."""
    head: list[Child] = [
        "",
        "N × T",
        term("relative"),
        term("regret"),
        term("win_share"),
        term("alignment"),
        term("tie", "standing"),
        term("default", "defaults of"),
    ]
    rows = [_row(place, one, own) for place, one in enumerate(answer.ranking)]
    return table("Ranking of the layouts", head, rows, class_="ranking")


def _row(place: int, one: RankedLayout, own: int | None) -> Markup:
    best = place == 0
    regret = tag("span", "\u2013", class_="muted") if best else _percent(one.regret)
    cells: list[Child] = [
        str(place + 1),
        layout_mark(one),
        join([interval_bar(one.relative), shown(one.relative, mark=False)]),
        regret,
        share(one.win_share),
        shown(one.alignment, mark=False),
        _standing(best, one, own),
        _names(one.defaults_of),
    ]
    looks = [None, None, "with-bar", None, None, None, "standing", "names"]
    inside = [tag("td", cell, class_=look) for cell, look in zip(cells, looks, strict=True)]
    return tag("tr", *inside, class_="best" if best else "tied" if one.tied_with_best else None)


def interval_bar(number: Number) -> Markup:
    """Draw a number between 0 and 1 with its interval."""
    if not known(number):
        return tag("span", class_="bar", aria_hidden="true")
    low, value, high = (min(max(x, 0.0), 1.0) for x in (number.low, number.value, number.high))
    style = f"--low:{low:.4f};--high:{high:.4f};--value:{value:.4f}"
    return tag("span", tag("i"), tag("b"), class_="bar", style=style, aria_hidden="true")


def _standing(best: bool, one: RankedLayout, own: int | None) -> Markup:
    """Return advised, tied or behind, and flags for the user's own layout and for harm."""
    flags: list[Child] = []
    if best:
        flags.append(tag("span", "★ advised", class_="flag"))
    elif one.tied_with_best:
        flags.append(tag("span", "= tie", class_="flag"))
    elif not one.harmful_at:
        flags.append(tag("span", "behind", class_="muted"))
    if own is not None and one.steps == own:
        flags.append(tag("span", "yours", class_="flag own"))
    if one.harmful_at:
        where = ", ".join(one.harmful_at)
        flags.append(tag("span", f"▲ harmful at {where}", class_="flag harm"))
    return join(flags)


def _names(libraries: Sequence[str]) -> Markup:
    """Return the first libraries; the others are in a tooltip."""
    first, rest = libraries[:_NAMED], libraries[_NAMED:]
    more = tag("span", f", {len(rest)} more", title=", ".join(rest)) if rest else None
    return join([", ".join(first), more])


def _percent(number: Number) -> Markup:
    return shown(number, 100, " %", mark=False)
