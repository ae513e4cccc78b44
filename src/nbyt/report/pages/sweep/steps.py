"""Performance against T: every layout's IQM with its interval, and every seed behind it."""

from nbyt.report.figures.parts import figure, line, scatter, steps_axis, value_axis
from nbyt.report.html.element import Child, Markup, join, tag
from nbyt.report.html.key import key
from nbyt.report.html.page import (
    Part,
    chart,
    section,
    side_by_side,
    switch,
    switched,
    table,
)
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.pages.sweep.answer import (
    KINDS,
    advised_index,
    best_index,
    kinds_of,
    leader,
    libraries,
)
from nbyt.results.sweep import Sweep, SweptLayout
from nbyt.results.values import Data, Kind


def standings(sweep: Sweep, kinds: list[Kind]) -> list[Child]:
    """Show a switch between the tables, and a table for each way of counting."""
    words: dict[str, str] = {kind: KINDS[kind].capitalize() for kind in kinds}
    blocks = [switched(kind, words[kind], _table(sweep, kind), kinds[0]) for kind in kinds]
    return [switch(words, kinds[0], "The table counts"), *blocks]


def _table(sweep: Sweep, kind: Kind) -> Markup:
    end = "at the end" if kind == "per_sample" else "when time is up"
    head: list[Child] = [
        "N × T",
        "return over training",
        end,
        f"behind the {leader(sweep, kind)}",
        f"the {leader(sweep, kind)} beats it",
        "an update" if kind == "per_second" else "seeds",
        "standing",
        "nearest to the default T of",
    ]
    rows = [_row(sweep, kind, place) for place in range(len(sweep.layouts))]
    return table(f"All layouts, {KINDS[kind]}", head, rows, class_="ranking by-steps")


def _row(sweep: Sweep, kind: Kind, place: int) -> Markup:
    layout = sweep.layouts[place]
    standing, best = layout.standing(kind), place == best_index(sweep, kind)
    dash = tag("span", "\u2013", class_="muted")
    count = f"{len(layout.seeds.finished)} of {len(sweep.seeds)}"
    behind, wins = standing.behind, standing.best_wins
    cells: list[Child] = [
        layout_mark(layout),
        shown(standing.over_training),
        shown(standing.final),
        dash if behind is None else shown(behind, mark=False),
        dash if wins is None else shown(wins, 100, " %"),
        shown(layout.seconds, 1000, " ms") if kind == "per_second" else count,
        _standing(sweep, kind, place),
        libraries(layout),
    ]
    looks = [None] * 6 + ["standing", "names"]
    inside = [tag("td", cell, class_=look) for cell, look in zip(cells, looks, strict=True)]
    return tag("tr", *inside, class_="best" if best else None)


def _standing(sweep: Sweep, kind: Kind, place: int) -> Markup:
    standing = sweep.layouts[place].standing(kind)
    flags: list[Child] = []
    if place == best_index(sweep, kind):
        flags.append(tag("span", f"★ {leader(sweep, kind)}", class_="flag"))
    elif not standing.scores:
        flags.append(tag("span", "nothing finished", class_="flag harm"))
    elif standing.tied_with_best is None:
        flags.append(tag("span", "unknown", class_="muted"))
    elif standing.tied_with_best:
        flags.append(tag("span", "= tie", class_="flag"))
    else:
        flags.append(tag("span", "behind", class_="muted"))
    if place == advised_index(sweep, kind):
        flags.append(tag("span", "◇ advised", class_="flag own"))
    return join(flags)


_LOOK = {"colour": "blue", "dash": "solid", "symbol": "circle", "size": 6}
_BEST = {"symbol": "star", "size": 16, "color": "@star", "line": {"width": 1, "color": "@ink"}}
_ADVISED = {"symbol": "diamond-open", "size": 19, "color": "@ink", "line": {"width": 2.4}}
_TITLES: dict[Kind, str] = {
    "per_sample": "For the same samples: mean return over training",
    "per_second": "For the same time: mean return until the fastest has finished",
}


def steps_section(sweep: Sweep) -> Part:
    """Show a chart for each way of counting, and all numbers in a table."""
    kinds = kinds_of(sweep)
    if not kinds:
        said = "No training was finished."
        return section("steps", "Performance against T", said, link="Against T")
    drawn = side_by_side(
        chart(f"steps-{kind}", f"{_TITLES[kind]} against T.", [_chart(sweep, kind)], _TITLES[kind])
        for kind in kinds
    )
    lead = (
        "Each dot is a training. The line goes through the IQM, the mean of the middle half of "
        "the seeds; its band is the 95 % interval."
    )
    content = [_key(sweep), drawn, *standings(sweep, kinds)]
    return section("steps", "Performance against T", lead, *content, link="Against T")


def _chart(sweep: Sweep, kind: Kind) -> Data:
    layouts = [layout for layout in sweep.layouts if layout.standing(kind).scores]
    numbers = [layout.standing(kind).over_training for layout in layouts]
    traces = [_dots(layouts, kind), *line(layouts, numbers, "IQM", _LOOK)]
    nearest = [layout for layout in layouts if layout.defaults_of]
    marks = [
        _defaults(nearest, kind) if nearest else None,
        _mark(sweep, kind, advised_index(sweep, kind), "advised", _ADVISED),
        _mark(sweep, kind, best_index(sweep, kind), leader(sweep, kind), _BEST),
    ]
    return figure(
        [*traces, *filter(None, marks)],
        360,
        xaxis=steps_axis(sweep.layouts),
        yaxis=value_axis("mean return", automargin=True, zeroline=False),
    )


def _dots(layouts: list[SweptLayout], kind: Kind) -> Data:
    """Draw every seed of every layout."""
    dots = [
        (layout, seed, score)
        for layout in layouts
        for seed, score in zip(layout.seeds.finished, layout.standing(kind).scores, strict=True)
    ]
    return scatter(
        [layout.steps for layout, _, _ in dots],
        [score for _, _, score in dots],
        "a seed",
        [f"{layout.name}, seed {seed}: {score:.4g}" for layout, seed, score in dots],
        marker={"color": "@muted:0.4", "size": 5, "symbol": "circle"},
    )


def _defaults(nearest: list[SweptLayout], kind: Kind) -> Data:
    """Draw a square around the layouts that are nearest to libraries' defaults."""
    square = {"symbol": "square-open", "size": 12, "color": "@vermillion", "line": {"width": 1.5}}
    return scatter(
        [layout.steps for layout in nearest],
        [layout.standing(kind).over_training.value for layout in nearest],
        "default",
        [f"{x.name}: nearest to the default T of {', '.join(x.defaults_of)}" for x in nearest],
        marker=square,
    )


def _mark(sweep: Sweep, kind: Kind, place: int | None, name: str, look: Data) -> Data | None:
    """Draw a symbol on one layout's IQM."""
    if place is None or not sweep.layouts[place].standing(kind).scores:
        return None
    layout = sweep.layouts[place]
    return scatter([layout.steps], [layout.standing(kind).over_training.value], name, marker=look)


def _key(sweep: Sweep) -> Markup:
    entries: list[tuple[str, str, str | None, Child]] = [
        ("blue", "circle", "solid", "IQM and interval"),
        ("muted", "circle", None, "one seed"),
        ("star", "star", None, leader(sweep, kinds_of(sweep)[0])),
        ("vermillion", "square-open", None, "nearest to the default T of a library"),
    ]
    if sweep.advice:
        entries.append(("ink", "diamond-open", None, "advised"))
    return key(*entries)
