"""The expected loss of every T: its interval, what was trained, and the safe range."""

from collections.abc import Sequence
from math import log10, sqrt

from nbyt.report.advice_words import CLOSE, SAME, claimed_steps, marks, part_words
from nbyt.report.figures.parts import band, figure, level, scatter, shaded, steps_axis, value_axis
from nbyt.report.html.element import Child, Markup, for_chart, join, tag
from nbyt.report.html.glossary import term
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart, section, table
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import HasLayout, known, layout_name, percent
from nbyt.report.pages.advice.answer import chance
from nbyt.results.advice import Advice, LayoutLoss
from nbyt.results.values import Data, Known

_TITLE = "Expected loss against T"
_TICKS = (0, 2, 5, 10, 20, 40, 70, 100)
_FINE_TICKS = (0, 0.5, 1, 2, 5, 10, 20, 40)
_NAMED = 2
_OCTAVE = log10(2)
_HALF = sqrt(2)  # from a T to halfway to its neighbour
_QUIET = {"showarrow": False, "font": {"size": 11, "color": "@muted"}}


def loss_section(data: Advice) -> Part:
    """Show a chart of the losses, what it is silent about, and all numbers."""
    about = f"Expected loss of every T {SAME[data.objective]}, with intervals."
    drawn = chart("losses", about, [loss_chart(data)])
    said = tag("p", _silent(data), class_="missing")
    return section(
        "losses", _TITLE, _lead(data), _key(data), drawn, said, _table(data), link="Losses"
    )


def _lead(data: Advice) -> Markup:
    share_of = (
        f": the share of the way from the untrained policy to the best layout that it misses "
        f"{SAME[data.objective]}. The band is the 95 % interval; the vertical axis is wider near "
        "zero, where layouts differ least."
    )
    return join(["What each T is expected to lose (", term("expected_loss"), ")", share_of])


def _silent(data: Advice) -> str:
    low, high = claimed_steps(data)
    beyond = f"Nothing is claimed of T below {low} or above {high}."
    if data.race is None:
        return (
            "Nothing was trained here: all losses are means over the reference tasks, and this "
            f"task may differ. {beyond}"
        )
    if not data.race.learnt:
        return (
            "The race says nothing, so all losses are those of the reference tasks, and this task "
            f"may differ. {beyond}"
        )
    if all(one.trainings for one in data.layouts):
        return f"Every layout shown was trained. {beyond}"
    return (
        "Layouts with a hollow point were not trained: their losses follow from those of their "
        f"neighbours and from the reference tasks. {beyond}"
    )


def by_steps(data: Advice) -> list[LayoutLoss]:
    """Return the layouts from the shortest T to the longest."""
    return sorted(data.layouts, key=lambda one: one.steps)


def loss_chart(data: Advice) -> Data:
    """Draw the losses over log2 T."""
    rows = by_steps(data)
    numbers = [_stretched(one) for one in rows]
    highs = [one.high for one in numbers if one is not None]
    top = 1.08 * max([sqrt(10.0), *highs])
    ticks = [at for at in (_TICKS if top > sqrt(50.0) else _FINE_TICKS) if sqrt(at) <= top]
    own = data.current
    places: list[HasLayout] = list(rows)
    if own is not None and own.steps not in [one.steps for one in rows]:
        places.append(own)
    axis = steps_axis(places)
    shapes, notes = _shapes(data, axis["range"])
    lines, words = _verticals(data, rows)
    return figure(
        [*_curve(rows, numbers), *_marks(data, rows, numbers), *_defaults(rows, top)],
        410,
        xaxis=axis,
        yaxis={
            **value_axis("expected loss", zeroline=True),
            "range": [-0.06 * top, top],
            "tickvals": [sqrt(at) for at in ticks],
            "ticktext": [f"{at:g} %" for at in ticks],
        },
        margin={"l": 62, "r": 14, "t": 34, "b": 64},
        shapes=[*shapes, *lines],
        annotations=[*notes, *words],
    )


def _stretched(one: LayoutLoss) -> Known | None:
    """Return the loss as the square root of its per cent, or None if it is undetermined."""
    if not known(one.loss):
        return None
    ends = (one.loss.value, one.loss.low, one.loss.high)
    value, low, high = (sqrt(max(100 * end, 0.0)) for end in ends)
    return Known(value=value, low=low, high=high)


def _curve(rows: Sequence[LayoutLoss], numbers: Sequence[Known | None]) -> list[Data]:
    pairs = [(one, number) for one, number in zip(rows, numbers, strict=True) if number]
    x, some = [one.steps for one, _ in pairs], [number for _, number in pairs]
    y = [number.value for number in some]
    symbols = ["circle" if one.trainings else "circle-open" for one, _ in pairs]
    line = edge = {"color": "@blue", "width": 2}
    marker = {"color": "@blue", "size": 10, "symbol": symbols, "line": edge}
    texts = [_text(one) for one, _ in pairs]
    drawn = scatter(x, y, "expected loss", texts, mode="lines+markers", line=line, marker=marker)
    return [band(x, some, "blue"), drawn]


def _text(one: LayoutLoss) -> str:
    tried = f"{one.trainings} trainings" if one.trainings else "not trained"
    return f"{layout_name(one)}: loses {percent(one.loss)}, {tried}"


def _marks(data: Advice, rows: Sequence[LayoutLoss], numbers: Sequence[Known | None]) -> list[Data]:
    """Draw symbols at the advised layout and at the user's."""
    edge = {"color": "@ink", "width": 1.3}
    looks = {
        "yours": {"symbol": "diamond-open", "size": 20, "color": "@ink", "line": {"width": 2.4}},
        "advised": {"symbol": "star", "size": 18, "color": "@star", "line": edge},
    }
    found = []
    for one, number in zip(rows, numbers, strict=True):
        for role in marks(data, one):
            if role in looks and number:
                found.append(scatter([one.steps], [number.value], role, marker=looks[role]))
    return found


def _defaults(rows: Sequence[LayoutLoss], top: float) -> list[Data]:
    """Mark every T that is some library's default, at the top."""
    named = [one for one in rows if one.defaults_of]
    texts = [f"T = {one.steps} is nearest to: {', '.join(one.defaults_of)}" for one in named]
    look = {"symbol": "triangle-down-open", "size": 9, "color": "@muted"}
    x, y = [one.steps for one in named], [0.965 * top] * len(named)
    return [scatter(x, y, "library default", texts, marker=look)] if named else []


def _shapes(data: Advice, across: Sequence[float]) -> tuple[list[Data], list[Data]]:
    """Draw the 5 % line, the safe range, and what lies outside of all that was tried."""
    low, high = claimed_steps(data)
    ends = {"yref": "paper", "y0": 0, "y1": 1}
    shapes = [level(sqrt(100 * CLOSE))]
    notes: list[Data] = []
    for first, last in _runs(data):
        shapes.append(shaded("@green:0.13", **ends, x0=first / _HALF, x1=last * _HALF))
        middle = (log10(first) + log10(last)) / 2
        notes.append({"text": "safe", "x": middle, **_at(0, "paper")})
    for x0, x1 in ((across[0], log10(low / _HALF)), (log10(high * _HALF), across[1])):
        if x1 - x0 > _OCTAVE / 2:
            shapes.append(shaded("@ink:0.07", **ends, x0=10**x0, x1=10**x1))
            notes.append({"text": "not tried", "x": (x0 + x1) / 2, **_at(0, "paper")})
    return shapes, notes


def _at(height: float, ref: str = "y") -> Data:
    return {"y": height, "yref": ref, "yanchor": "bottom", **_QUIET}


def _runs(data: Advice) -> list[tuple[int, int]]:
    """Return the first and the last T of each run of safe neighbours."""
    safe, found = {steps for _, steps in data.safe_range}, list[tuple[int, int]]()
    before = False
    for one in by_steps(data):
        if one.steps in safe:
            found.append((found.pop()[0] if before else one.steps, one.steps))
        before = one.steps in safe
    return found


def _verticals(data: Advice, rows: Sequence[LayoutLoss]) -> tuple[list[Data], list[Data]]:
    """Draw a line at the advised T and at the user's, with words above the chart."""
    marked = [(data.answer.steps, f"★ {layout_name(data.answer)} advised")]
    own = data.current
    if own is not None and own.steps != data.answer.steps:
        marked.append((own.steps, f"◇ {layout_name(own)} yours"))
    shapes, notes = [], []
    middle = (log10(rows[0].steps) + log10(rows[-1].steps)) / 2
    for place, (steps, words) in enumerate(marked):
        line = {"color": "@ink:0.45", "width": 1.2, "dash": "dot"}
        top = 1.005 + 0.055 * place
        ends = {"x0": steps, "x1": steps, "yref": "paper", "y0": 0, "y1": top}
        shapes.append({"type": "line", "layer": "below", "line": line, **ends})
        side = "right" if log10(steps) > middle else "left"
        font = {"size": 12, "color": "@ink"}
        text = {"text": for_chart(words), "x": log10(steps), "xanchor": side}
        notes.append({**text, **_at(top, "paper"), "font": font})
    return shapes, notes


def _key(data: Advice) -> Markup:
    entries: list[tuple[str, str, str | None, Child]] = [
        ("blue", "circle", "solid", "trained"),
        ("blue", "circle-open", "solid", "not trained"),
        ("star", "star", None, "advised"),
        ("muted", "none", "dash", "5 %: as good as the best"),
    ]
    if data.race is None:
        entries.pop(0)
    if data.current is not None:
        entries.append(("ink", "diamond-open", None, "yours"))
    if data.safe_range:
        entries.append(("green", "bar", None, term("safe")))
    if any(one.defaults_of for one in data.layouts):
        entries.append(("muted", "triangle-down", None, term("default")))
    return key(*entries)


def _table(data: Advice) -> Markup:
    chances = any(one.within_5 is not None for one in data.layouts)
    head: list[Child] = ["N × T", term("expected_loss")]
    head += [term("within_5")] * chances
    head.append("trainings" if data.race is None else part_words(data.race))
    head += ["an update", "standing", term("default", "defaults of")]
    rows = [_row(data, one, chances=chances) for one in by_steps(data)]
    return table("All layouts", head, rows, class_="ranking by-steps")


def _row(data: Advice, one: LayoutLoss, *, chances: bool) -> Markup:
    dash = tag("span", "\u2013", class_="muted")
    roles = marks(data, one)
    cells: list[Child] = [layout_mark(one), shown(one.loss, 100, " %")]
    if chances:
        cells.append(dash if one.within_5 is None else chance(one.within_5))
    cells.append(str(one.trainings) if one.trainings else tag("span", "none", class_="muted"))
    cells.append(dash if one.update_cost is None else f"{one.update_cost:.2g} ×")
    cells += [_flags(roles), _names(one.defaults_of)]
    looks = [None] * (len(cells) - 2) + ["standing", "names"]
    inside = [tag("td", cell, class_=look) for cell, look in zip(cells, looks, strict=True)]
    return tag("tr", *inside, class_="best" if "advised" in roles else None)


def _flags(roles: Sequence[str]) -> Markup:
    words = {"advised": ("★ advised", "flag"), "yours": ("◇ yours", "flag own")}
    pairs = [words.get(role, (role, "flag")) for role in roles]
    return join(tag("span", word, class_=look) for word, look in pairs)


def _names(libraries: Sequence[str]) -> Markup:
    """Show the first libraries; the others are in a tooltip."""
    names = list(dict.fromkeys(libraries))
    first, rest = names[:_NAMED], names[_NAMED:]
    more = tag("span", f", {len(rest)} more", title=", ".join(rest)) if rest else None
    return join([", ".join(first), more])
