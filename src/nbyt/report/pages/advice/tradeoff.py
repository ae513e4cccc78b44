"""The trade-off: long rollouts have less bias, many envs less noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from nbyt.report.figures.parts import figure, line, scatter, shaded, steps_axis, value_axis
from nbyt.report.html.element import Child, Markup, for_chart, join, tag
from nbyt.report.html.glossary import term
from nbyt.report.html.key import key
from nbyt.report.html.page import (
    Content,
    Part,
    Slider,
    by_stage,
    chart,
    numbers,
    row,
    section,
    slider_handle,
    table,
)
from nbyt.report.html.quantity import layout_mark, reasons_of, shown
from nbyt.report.numbers import known, words
from nbyt.results.advice import Advice, Answer, Library, StageAdvice
from nbyt.results.measurement import MeasuredLayout
from nbyt.results.values import Data, Objective, OfLayout


@dataclass(frozen=True)
class Probed:
    """Frozen policies without an advice, with the layouts to mark in charts and their words."""

    stages: Sequence[StageAdvice]
    marked: Sequence[tuple[str, OfLayout]] = ()
    libraries: Sequence[Library] = ()


def start_of(data: Advice | Probed) -> int:
    """Return the place of the stage that was looked at closely, or of the middle one."""
    closer = [place for place, stage in enumerate(data.stages) if stage.closer is not None]
    return closer[0] if closer else len(data.stages) // 2


def stage_bar(data: Advice) -> Part:
    """Return the slider with the name, mean return and critic of its stage."""
    stages, start = data.stages, start_of(data)
    label = tag("label", "Stage", for_="stage")
    texts = [valuetext(one) for one in stages]
    about = tag("div", by_stage([_about(one) for one in stages], start), class_="about-stage")
    control = tag("div", label, slider_handle("stage", texts, start), class_="control")
    bar = tag("div", control, about, class_="stage-bar")
    return Part(bar, sliders={"stage": Slider(texts, start)})


def valuetext(stage: StageAdvice) -> str:
    """Return what a screen reader says for a stage."""
    return f"{stage.name}, mean return {words(stage.mean_return)}"


def _about(stage: StageAdvice) -> Markup:
    facts = [
        tag("strong", stage.name, class_="stage-name"),
        tag("span", "mean return ", shown(stage.mean_return)),
        tag("span", term("explained_variance"), " ", shown(stage.critic.explained_variance)),
    ]
    return join(facts)


GRADIENT: Objective = "actor"
"""Whose gradient the charts show."""
FACTORS: dict[str, Data] = {
    "bias_factor": {"colour": "vermillion", "dash": "dash", "symbol": "square", "size": 6},
    "noise_factor": {"colour": "green", "dash": "dot", "symbol": "triangle-up", "size": 7},
    "alignment": {"colour": "blue", "dash": "solid", "symbol": "circle", "width": 3, "size": 8},
}
_LOWEST, _HIGHEST = -1.15, 2.0


def factor_charts(data: Advice | Probed) -> list[Data]:
    """Return one chart for each stage, all with the same top."""
    top = max(_bounds(stage)[1] for stage in data.stages)
    return [_chart(data, stage, [_bounds(stage)[0], top]) for stage in data.stages]


def marked(data: Advice | Probed) -> list[tuple[str, OfLayout]]:
    """Return the layouts to mark in charts, each with its words."""
    if isinstance(data, Probed):
        return list(data.marked)
    return [(f"advised {word}", one) for word, one in advised(data)]


def advised(data: Advice) -> list[tuple[str, Answer]]:
    """Return each advised layout with what it is advised for."""
    time, samples = data.advice.time, data.advice.samples
    if time is None:
        return [("for samples", samples)]
    if (time.envs, time.steps) == (samples.envs, samples.steps):
        return [("for time and samples", time)]
    return [("for time", time), ("for samples", samples)]


def _chart(data: Advice | Probed, stage: StageAdvice, bounds: list[float]) -> Data:
    layouts = stage.layouts
    traces: list[Data] = []
    # Alignment first: where noise is all that matters its thick line would hide the other.
    for name in ("alignment", "bias_factor", "noise_factor"):
        numbers = [one.of(GRADIENT).of(name) for one in layouts]
        traces += line(layouts, numbers, name.replace("_", " "), FACTORS[name])
    traces += [_stars(data, stage), _factors_defaults(data, layouts, bounds)]
    # Below zero a gradient points away from the true one.
    wrong_way = shaded("@ink:0.05", xref="paper", x0=0, x1=1, y0=bounds[0], y1=0)
    shapes, notes = _verticals(data, layouts)
    return figure(
        traces,
        430,
        xaxis=steps_axis(layouts),
        yaxis=value_axis("share (1 is the best)", range=bounds),
        margin={"l": 62, "r": 14, "t": 50, "b": 64},
        shapes=[wrong_way, *shapes],
        annotations=notes,
    )


def _bounds(stage: StageAdvice) -> list[float]:
    """Return the range from below the smallest value to above the largest."""
    numbers = [one.of(GRADIENT).of(name) for one in stage.layouts for name in FACTORS]
    values = [one.value for one in numbers if known(one)]
    low, high = min([0.0, *values]) - 0.06, max([1.0, *values]) + 0.14
    return [max(low, _LOWEST), min(high, _HIGHEST)]


def _stars(data: Advice | Probed, stage: StageAdvice) -> Data:
    """Mark points on the line of alignments."""
    own = {one.steps: one.of(GRADIENT).alignment for one in stage.layouts}
    at = [one.steps for _, one in marked(data) if known(own.get(one.steps))]
    look = {"symbol": "star", "size": 17, "color": "@star", "line": {"color": "@ink", "width": 1.3}}
    name = "best" if isinstance(data, Probed) else "advised"
    return scatter(at, [own[steps].value for steps in at], name, marker=look)


def _verticals(
    data: Advice | Probed, layouts: Sequence[MeasuredLayout]
) -> tuple[list[Data], list[Data]]:
    """Draw a line at each marked T, and above the chart why it is marked."""
    order = [one.steps for one in layouts]
    shapes, notes = [], []
    for line_up, (word, one) in enumerate(marked(data)):
        at = one.steps
        right = at in order and order.index(at) > len(order) / 2
        line = {"color": "@ink:0.45", "width": 1.2, "dash": "dot"}
        ends = {"x0": at, "x1": at, "y0": 0, "y1": 1.01 + 0.055 * line_up}
        shapes.append({"type": "line", "yref": "paper", "layer": "below", "line": line, **ends})
        notes.append(_note(f"★ {one.envs}x{at} {word}", at, 1.01 + 0.055 * line_up, right))
    return shapes, notes


def _note(text: str, at: int, height: float, right: bool) -> Data:
    return {
        "text": for_chart(text),
        "x": log10(at),
        "y": height,
        "yref": "paper",
        "xanchor": "right" if right else "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12, "color": "@ink"},
    }


def _factors_defaults(
    data: Advice | Probed, layouts: Sequence[MeasuredLayout], bounds: list[float]
) -> Data:
    """Mark every T that is some library's default, near the top."""
    named = _named(data)
    at = [one.steps for one in layouts if one.steps in named]
    return scatter(
        at,
        [bounds[1] - 0.035 * (bounds[1] - bounds[0])] * len(at),
        "library default",
        [f"T = {steps} is nearest to: {', '.join(named[steps])}" for steps in at],
        marker={"symbol": "triangle-down-open", "size": 9, "color": "@muted"},
    )


def _named(data: Advice | Probed) -> dict[int, list[str]]:
    """Return the libraries by the T that is nearest to their default."""
    found: dict[int, list[str]] = {}
    for one in data.libraries:
        names = found.setdefault(one.placed_at[1], [])
        names += [one.library] if one.library not in names else []
    return found


_COLUMNS = (*FACTORS, "cosine", "ess_ratio")
_DESCRIPTION = (
    "Bias factor, noise factor and alignment of the actor's gradient against T, for the chosen "
    "stage. The numbers are in the table below the chart."
)


def tradeoff_section(data: Advice | Probed) -> Part:
    """Return the chart of the factors, the libraries' defaults, and the numbers."""
    start = start_of(data)
    drawn = chart("factors", _DESCRIPTION, factor_charts(data))
    missing = by_stage([_missing(stage) for stage in data.stages], start)
    tables = by_stage([_table(stage) for stage in data.stages], start)
    content: list[Content] = [
        _key(data),
        drawn,
        missing,
        _defaults(data),
        numbers("The numbers", tables),
    ]
    return section("tradeoff", "The trade-off", _lead(), *content, link="Trade-off")


def _lead() -> Markup:
    return join(
        [
            "Long rollouts need the critic less, which can make the gradient point better (",
            term("bias_factor"),
            "). Many envs give steps that are less alike, which can make it scatter less (",
            term("noise_factor"),
            "). Their product is the ",
            term("alignment"),
            ". All numbers are of the actor's gradient; bands are 95 % intervals, and where two "
            "of them overlap the difference may be chance.",
        ]
    )


def _key(data: Advice | Probed) -> Markup:
    marks = [("muted", "triangle-down", None, term("default"))] if data.libraries else []
    return key(
        ("blue", "circle", "solid", term("alignment")),
        ("vermillion", "square", "dash", term("bias_factor")),
        ("green", "triangle-up", "dot", term("noise_factor")),
        ("star", "star", None, "best" if isinstance(data, Probed) else "advised"),
        *marks,
    )


def _missing(stage: StageAdvice) -> Markup | None:
    return reasons_of(
        (name.replace("_", " "), one.steps, one.of(GRADIENT).of(name))
        for name in FACTORS
        for one in stage.layouts
    )


def _defaults(data: Advice | Probed) -> Markup | None:
    """Return which library's default T is nearest to which compared T."""
    items = [
        tag("li", tag("strong", f"T = {steps} "), ", ".join(names))
        for steps, names in sorted(_named(data).items())
    ]
    if not items:
        return None
    return tag("div", tag("h3", "Library defaults by T"), tag("ul", *items, class_="defaults"))


def _table(stage: StageAdvice) -> Markup:
    head: list[Child] = [
        "N × T",
        term("bias_factor"),
        term("noise_factor"),
        term("alignment"),
        "cosine",
        join([term("ess"), " / NT"]),
    ]
    rows = [
        row(layout_mark(one), *(shown(one.of(GRADIENT).of(name)) for name in _COLUMNS))
        for one in stage.layouts
    ]
    return table(f"Factors at {stage.name}", head, rows)
