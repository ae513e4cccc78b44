"""All layouts, best first, with the libraries' defaults; and the cost of an update."""

from nbyt.report.figures.parts import figure, line, steps_axis, value_axis
from nbyt.report.html.element import Child, Markup, for_chart, join, tag
from nbyt.report.html.glossary import term
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart, numbers, section, table
from nbyt.report.html.quantity import layout_mark, reasons_of, shown
from nbyt.report.numbers import Number, known, share
from nbyt.results.values import Data

_LOOK = {"colour": "blue", "dash": "solid", "symbol": "circle"}


def cost_chart(data: Data) -> Data:
    """Return the milliseconds of an update: the line is fitted, the crosses were timed."""
    layouts = data["stages"][0]["layouts"]
    numbers = [one["seconds"] for one in layouts]
    return figure(
        [*line(layouts, numbers, "seconds an update", _LOOK, 1000), _timed(data["costs"])],
        320,
        xaxis=steps_axis(layouts),
        yaxis=value_axis("milliseconds an update", rangemode="tozero"),
    )


def _timed(costs: Data) -> Data:
    rows = [(envs, steps, seconds) for envs, steps, every in costs["timed"] for seconds in every]
    texts = [f"timed, {envs}x{steps}: {1000 * seconds:.1f} ms" for envs, steps, seconds in rows]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "timed",
        "x": [steps for _, steps, _ in rows],
        "y": [1000 * seconds for _, _, seconds in rows],
        "marker": {"symbol": "x-thin", "size": 8, "line": {"width": 1.5, "color": "@vermillion"}},
        "hovertext": [for_chart(text) for text in texts],
        "hoverinfo": "text",
    }


def cost_section(data: Data) -> Part:
    """Return the seconds of an update for every T, and the updates that were timed."""
    if not data.get("costs"):
        words = "The cost of an update was not measured."
        return section("cost", "Cost", words, link="Cost")
    lead = (
        "Time of one update (collect a batch, run all epochs) on the machine named below. Each "
        "cross is an update that was timed; the line goes through them, its band is the 95 % "
        "interval."
    )
    marks = key(("blue", "circle", "solid", "estimated"), ("vermillion", "cross", None, "timed"))
    drawn = chart("cost", "Milliseconds of an update against T.", [cost_chart(data)])
    layouts = data["stages"][0]["layouts"]
    missing = reasons_of(("seconds", one["steps"], one["seconds"]) for one in layouts)
    rows = [
        tag("tr", tag("td", layout_mark(one)), tag("td", shown(one["seconds"], 1000, " ms")))
        for one in layouts
    ]
    folded = numbers("The numbers", table("Cost of an update", ["N × T", "an update"], rows))
    return section("cost", "Cost", lead, marks, drawn, missing, folded, link="Cost")


_NAMED = 2
_KINDS = {"per_sample": "Per sample", "per_second": "Per second"}


def ranking_section(data: Data) -> Part:
    """Return a table for each answer, one of them shown at a time."""
    found = {kind: data["advice"].get(kind) for kind in _KINDS}
    known_kinds = {kind: one for kind, one in found.items() if one is not None}
    start = "per_second" if data.get("per") == "second" and found["per_second"] else "per_sample"
    own = (data.get("current") or {}).get("per_sample")
    blocks = [
        tag(
            "div",
            tag("h3", _KINDS[kind], class_="print-only"),
            ranking_table(one, own and own["steps"]),
            data_kind=kind,
            hidden=kind != start,
        )
        for kind, one in known_kinds.items()
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
    switch = _switch(list(known_kinds), start) if len(known_kinds) > 1 else None
    return section("ranking", "The ranking", lead, switch, *blocks, link="Ranking")


def ranking_table(answer: Data, own: int | None = None) -> Markup:
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
    rows = [_row(place, one, own) for place, one in enumerate(answer["ranking"])]
    return table("Ranking of the layouts", head, rows, class_="ranking")


def _row(place: int, one: Data, own: int | None) -> Markup:
    best = place == 0
    regret = tag("span", "\u2013", class_="muted") if best else _percent(one["regret"])
    cells: list[Child] = [
        str(place + 1),
        layout_mark(one),
        join([interval_bar(one["relative"]), shown(one["relative"], mark=False)]),
        regret,
        share(one["win_share"]),
        shown(one["alignment"], mark=False),
        _standing(best, one, own),
        _names(one["defaults_of"]),
    ]
    looks = [None, None, "with-bar", None, None, None, "standing", "names"]
    inside = [tag("td", cell, class_=look) for cell, look in zip(cells, looks, strict=True)]
    return tag("tr", *inside, class_="best" if best else "tied" if one["tied_with_best"] else None)


def interval_bar(number: Number) -> Markup:
    """Draw a number between 0 and 1 with its interval."""
    if not known(number):
        return tag("span", class_="bar", aria_hidden="true")
    low, value, high = (min(max(number[x], 0.0), 1.0) for x in ("low", "value", "high"))
    style = f"--low:{low:.4f};--high:{high:.4f};--value:{value:.4f}"
    return tag("span", tag("i"), tag("b"), class_="bar", style=style, aria_hidden="true")


def _standing(best: bool, one: Data, own: int | None) -> Markup:
    """Return advised, tied or behind, and flags for the user's own layout and for harm."""
    flags: list[Child] = []
    if best:
        flags.append(tag("span", "★ advised", class_="flag"))
    elif one["tied_with_best"]:
        flags.append(tag("span", "= tie", class_="flag"))
    elif not one["harmful_at"]:
        flags.append(tag("span", "behind", class_="muted"))
    if own is not None and one["steps"] == own:
        flags.append(tag("span", "yours", class_="flag own"))
    if one["harmful_at"]:
        where = ", ".join(one["harmful_at"])
        flags.append(tag("span", f"▲ harmful at {where}", class_="flag harm"))
    return join(flags)


def _names(libraries: list[str]) -> Markup:
    """Return the first libraries; the others are in a tooltip."""
    first, rest = libraries[:_NAMED], libraries[_NAMED:]
    more = tag("span", f", {len(rest)} more", title=", ".join(rest)) if rest else None
    return join([", ".join(first), more])


def _percent(number: Number) -> Markup:
    return shown(number, 100, " %", mark=False)


def _switch(kinds: list[str], start: str) -> Markup:
    buttons = [
        tag(
            "button",
            _KINDS[kind],
            type="button",
            data_show=kind,
            aria_pressed="true" if kind == start else "false",
        )
        for kind in kinds
    ]
    return tag("div", *buttons, class_="tabs", role="group", aria_label="Ranked by")
