"""Performance against T: every layout's IQM with its interval, and every seed behind it."""

from nbyt.report.figures.parts import figure, line, steps_axis, value_axis
from nbyt.report.html.element import Child, Markup, for_chart, join, tag
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart, section, side_by_side, table
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import layout_name
from nbyt.report.pages.sweep.answer import (
    KINDS,
    advised_index,
    best_index,
    is_known,
    kinds_of,
    libraries,
)
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
    own, best = layout[kind], place == best_index(data, kind)
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
    if place == best_index(data, kind):
        flags.append(tag("span", "★ best", class_="flag"))
    elif not own["scores"]:
        flags.append(tag("span", "nothing finished", class_="flag harm"))
    elif own["tied_with_best"] is None:
        flags.append(tag("span", "cannot be told", class_="muted"))
    elif own["tied_with_best"]:
        flags.append(tag("span", "= tie", class_="flag"))
    else:
        flags.append(tag("span", "behind", class_="muted"))
    if place == advised_index(data, kind):
        flags.append(tag("span", "◇ advised", class_="flag own"))
    return join(flags)


_LOOK = {"colour": "blue", "dash": "solid", "symbol": "circle", "size": 6}
_TITLES = {
    "per_sample": "For the same samples: mean return over training",
    "per_second": "For the same time: mean return until the fastest is through",
}


def steps_section(data: Data) -> Part:
    """A chart for each way of counting, and all numbers in a table."""
    kinds = kinds_of(data)
    if not kinds:
        said = "No training was finished."
        return section("steps", "Performance against T", said, link="Against T")
    drawn = side_by_side(
        chart(f"steps-{kind}", f"{_TITLES[kind]} against T.", [_chart(data, kind)], _TITLES[kind])
        for kind in kinds
    )
    lead = (
        "Each dot is a training. The line goes through the IQM, the mean of the middle half of "
        "the seeds; its band is the 95 % interval."
    )
    content = [_key(data), drawn, *standings(data, kinds)]
    return section("steps", "Performance against T", lead, *content, link="Against T")


def _chart(data: Data, kind: str) -> Data:
    layouts = [one for one in data["layouts"] if is_known(one, kind)]
    numbers = [one[kind]["over_training"] for one in layouts]
    traces = [_dots(layouts, kind), *line(layouts, numbers, "IQM", _LOOK)]
    marks = [
        _defaults(layouts, kind),
        _mark(data, kind, advised_index(data, kind), "advised", "diamond-open", "ink", 19),
        _mark(data, kind, best_index(data, kind), "best", "star", "star", 16),
    ]
    return figure(
        [*traces, *(one for one in marks if one is not None)],
        360,
        xaxis=steps_axis(data["layouts"]),
        yaxis=value_axis("mean return", automargin=True, zeroline=False),
    )


def _dots(layouts: list[Data], kind: str) -> Data:
    """Every seed of every layout."""
    pairs = [
        (one, seed, score)
        for one in layouts
        for seed, score in zip(one["seeds"]["finished"], one[kind]["scores"], strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "a seed",
        "x": [one["steps"] for one, _, _ in pairs],
        "y": [score for _, _, score in pairs],
        "marker": {"color": "@muted:0.4", "size": 5, "symbol": "circle"},
        "hovertext": [
            for_chart(f"{layout_name(one)}, seed {seed}: {score:.4g}") for one, seed, score in pairs
        ],
        "hoverinfo": "text",
    }


def _defaults(layouts: list[Data], kind: str) -> Data | None:
    """A square around the layouts that are nearest to libraries' defaults."""
    own = [one for one in layouts if one["defaults_of"]]
    if not own:
        return None
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "default",
        "x": [one["steps"] for one in own],
        "y": [one[kind]["over_training"]["value"] for one in own],
        "marker": {
            "symbol": "square-open",
            "size": 12,
            "color": "@vermillion",
            "line": {"width": 1.5},
        },
        "hovertext": [for_chart(f"{layout_name(one)}: {_default_words(one)}") for one in own],
        "hoverinfo": "text",
    }


def _default_words(layout: Data) -> str:
    return f"nearest to the default T of {', '.join(layout['defaults_of'])}"


def _mark(
    data: Data, kind: str, place: int | None, name: str, symbol: str, colour: str, size: int
) -> Data | None:
    """A symbol on one layout's IQM."""
    if place is None or not is_known(data["layouts"][place], kind):
        return None
    one = data["layouts"][place]
    edge = {"width": 1, "color": "@ink"} if symbol == "star" else {"width": 2.4}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [one["steps"]],
        "y": [one[kind]["over_training"]["value"]],
        "marker": {"symbol": symbol, "size": size, "color": f"@{colour}", "line": edge},
        "hoverinfo": "skip",
    }


def _key(data: Data) -> Markup:
    entries: list[tuple[str, str, str | None, Child]] = [
        ("blue", "circle", "solid", "IQM and interval"),
        ("muted", "circle", None, "one seed"),
        ("star", "star", None, "best"),
        ("vermillion", "square-open", None, "nearest to the default T of a library"),
    ]
    if data["advice"]:
        entries.append(("ink", "diamond-open", None, "advised"))
    return key(*entries)
