"""All layouts by their T in a table, for the same samples or for the same time."""

from nbyt.report.page.element import Child, Markup, join, tag
from nbyt.report.page.part import table
from nbyt.report.page.quantity import layout_mark, shown
from nbyt.report.sweep.layouts import KINDS, advised_place, best_place, kinds_of, libraries
from nbyt.results.values import Data


def standings(data: Data, kinds: list[str]) -> list[Child]:
    """A switch between the tables, and a table for each way of counting."""
    return [_switch(kinds), *(_block(data, kind) for kind in kinds)]


def _switch(kinds: list[str]) -> Markup | None:
    if len(kinds) < 2:
        return None
    buttons = [
        tag(
            "button",
            KINDS[kind].capitalize(),
            type="button",
            data_show=kind,
            aria_pressed="true" if kind == kinds[0] else "false",
        )
        for kind in kinds
    ]
    return tag("div", *buttons, class_="tabs", role="group", aria_label="The table counts")


def _block(data: Data, kind: str) -> Markup:
    title = tag("h3", KINDS[kind].capitalize(), class_="print-only")
    first = kinds_of(data)[0]
    return tag("div", title, _table(data, kind), data_kind=kind, hidden=kind != first)


def _table(data: Data, kind: str) -> Markup:
    end = "at the end" if kind == "per_sample" else "when time is up"
    head: list[Child] = [
        "N × T",
        "return over training",
        end,
        "behind the best",
        "the best beats it",
        "an update" if kind == "per_second" else "seeds",
        "standing",
        "nearest to the default T of",
    ]
    rows = [_row(data, kind, place) for place in range(len(data["layouts"]))]
    return table(f"All layouts, {KINDS[kind]}", head, rows, class_="ranking by-steps")


def _row(data: Data, kind: str, place: int) -> Markup:
    layout = data["layouts"][place]
    own, best = layout[kind], place == best_place(data, kind)
    dash = tag("span", "\u2013", class_="muted")
    count = f"{len(layout['seeds']['finished'])} of {len(data['seeds'])}"
    cells: list[Child] = [
        layout_mark(layout),
        shown(own["over_training"]),
        shown(own["final"]),
        dash if own["behind"] is None else shown(own["behind"], mark=False),
        dash if own["best_wins"] is None else shown(own["best_wins"], 100, " %"),
        shown(layout["seconds"], 1000, " ms") if kind == "per_second" else count,
        _standing(data, kind, place),
        libraries(layout),
    ]
    looks = [None] * 6 + ["standing", "names"]
    inside = [tag("td", cell, class_=look) for cell, look in zip(cells, looks, strict=True)]
    return tag("tr", *inside, class_="best" if best else None)


def _standing(data: Data, kind: str, place: int) -> Markup:
    own = data["layouts"][place][kind]
    flags: list[Child] = []
    if place == best_place(data, kind):
        flags.append(tag("span", "★ best", class_="flag"))
    elif not own["scores"]:
        flags.append(tag("span", "nothing finished", class_="flag harm"))
    elif own["tied_with_best"] is None:
        flags.append(tag("span", "cannot be told", class_="muted"))
    elif own["tied_with_best"]:
        flags.append(tag("span", "= tie", class_="flag"))
    else:
        flags.append(tag("span", "behind", class_="muted"))
    if place == advised_place(data, kind):
        flags.append(tag("span", "◇ advised", class_="flag own"))
    return join(flags)
