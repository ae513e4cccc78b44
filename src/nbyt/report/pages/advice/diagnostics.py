"""Diagnostics of one stage: a picture of the bias, sources of noise, and T against lambda."""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from nbyt.report.figures.draw_plane import View, plane_chart, views
from nbyt.report.figures.parts import figure, scatter, spread, values_of
from nbyt.report.html.element import Child, Markup, join, tag
from nbyt.report.html.glossary import TERMS, term
from nbyt.report.html.key import key
from nbyt.report.html.page import Content, Part, chart, merged, section, side_by_side, table, wrap
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import divided, known, layout_name, words
from nbyt.report.pages.advice.tradeoff import GRADIENT
from nbyt.results.advice import Advice, StageAdvice
from nbyt.results.measurement import (
    Gradient,
    LayoutCloud,
    LayoutSources,
    Look,
    MeasuredLayout,
    Measurement,
    Sources,
)
from nbyt.results.values import OBJECTIVES, Data, Estimate, Number

Gradients = Literal["actor", "critic"]


def surface_section(data: Advice | Measurement, stage: StageAdvice, looked: Look) -> Part:
    """Return the alignment for every T and lambda that was measured."""
    lambdas = sorted(looked.lambdas)
    top = _best(looked.layouts)
    lead = join(
        [
            f"At {stage.name}: ",
            term("alignment"),
            f" of the {GRADIENT}'s gradient for each T and ",
            term("lambda"),
            ". Shortening T and lowering lambda do similar things. A deeper colour is better; "
            "a frame marks the highest value if its interval is above zero, hatching what is "
            "undetermined.",
        ]
    )
    head: list[Child] = ["N × T", *(_column(data, lam) for lam in lambdas)]
    rows = [
        _row([one for one in looked.layouts if one.steps == steps], lambdas, top)
        for steps in sorted({one.steps for one in looked.layouts})
    ]
    body = table("Alignment by T and lambda", head, rows, class_="map")
    return section("map", "T against lambda", lead, body, link="T and lambda")


def _column(data: Advice | Measurement, lam: float) -> str:
    return f"λ = {lam:g}, in use" if lam == data.lam else f"λ = {lam:g}"


def _best(layouts: Sequence[MeasuredLayout]) -> MeasuredLayout | None:
    seen = [one for one in layouts if known(one.of(GRADIENT).alignment)]
    return max(seen, key=lambda one: one.of(GRADIENT).alignment.value or 0.0, default=None)


def _is_clear(one: MeasuredLayout) -> bool:
    """Return True if the interval says that the gradient points along the true one."""
    number = one.of(GRADIENT).alignment
    return known(number) and number.low > 0


def _row(
    layouts: Sequence[MeasuredLayout],
    lambdas: list[float],
    top: MeasuredLayout | None,
) -> Markup:
    own = {one.lam: one for one in layouts}
    cells = [_cell(own.get(lam), top) for lam in lambdas]
    return tag("tr", tag("th", layout_mark(layouts[0]), scope="row"), *cells)


def _cell(one: MeasuredLayout | None, top: MeasuredLayout | None) -> Markup:
    if one is None or top is None:
        return tag("td", "not measured" if one is None else "undetermined", class_="unknown")
    number = one.of(GRADIENT).alignment
    if not known(number):
        return tag("td", shown(number), class_="unknown")
    value, highest = number.value, abs(top.of(GRADIENT).alignment.value or 0.0) or 1.0
    look = "negative" if value < 0 else "positive"
    frame = " top" if one is top and _is_clear(one) else ""
    style = f"--depth:{min(1.0, abs(value) / highest):.3f}"
    return tag("td", shown(number, mark=False), class_=f"{look}{frame}", style=style)


SOURCES = ("sampling", "own_step", "credit", "coupling")
# Smaller shares are what is left of zero after rounding, or as good as none.
_ROUNDING = 1e-6
_LOOKS: dict[Gradients, tuple[str, str, float]] = {
    "actor": ("blue", "circle", 0.14),
    "critic": ("vermillion", "square", -0.14),
}


def share_of(parts: Sources, name: str) -> Number:
    """Return a source as a share of the variance; undetermined where the variance is."""
    share = divided(getattr(parts, name), parts.variance)
    if known(share) and max(map(abs, (share.value, share.low, share.high))) < _ROUNDING:
        return replace(share, value=0.0, low=0.0, high=0.0)
    return share


def source_chart(layout: LayoutSources) -> Data:
    """Return a point with its interval for each source and each gradient."""
    rows = list(reversed(SOURCES))
    return figure(
        [_points(layout, gradient, rows) for gradient in _LOOKS],
        270,
        xaxis={"title": {"text": "share of the variance (%)"}, "zeroline": True},
        yaxis={
            "tickvals": list(range(len(rows))),
            "ticktext": [name.replace("_", " ") for name in rows],
            "range": [-0.5, len(rows) - 0.5],
            "zeroline": False,
        },
        margin={"l": 76, "r": 14, "t": 10, "b": 52},
    )


def _points(layout: LayoutSources, gradient: Gradients, rows: list[str]) -> Data:
    colour, symbol, shift = _LOOKS[gradient]
    numbers = [share_of(layout.of(gradient), name) for name in rows]
    texts = [
        f"{gradient}, {name.replace('_', ' ')}: {words(number, 100, ' %')}"
        for name, number in zip(rows, numbers, strict=True)
    ]
    marker = {"symbol": symbol, "size": 9, "color": f"@{colour}"}
    y, bars = [place + shift for place in range(len(rows))], spread(numbers, colour, 100)
    return scatter(values_of(numbers, 100), y, gradient, texts, marker=marker, error_x=bars)


_GRADIENTS: tuple[Gradients, ...] = ("actor", "critic")


def closer_sections(data: Advice) -> Part:
    """Return three sections on the diagnosed stage, or one that says there is none."""
    looked = [(stage, stage.closer) for stage in data.stages if stage.closer is not None]
    if not looked:
        words = (
            "No stage was looked at closely: there is no picture of the bias, no split into "
            "sources of noise, and no map over T and lambda."
        )
        return section("closer", "Diagnostics", words, link="Diagnostics")
    both = looked[0]
    return merged([_bias_section(*both), source_section(*both), surface_section(data, *both)])


def _bias_section(stage: StageAdvice, looked: Look) -> Part:
    plane = sorted(looked.plane, key=lambda one: one.steps)
    lead = join(
        [
            f"At {stage.name}: the ",
            term("true_gradient"),
            " is the arrow to (1, 0). Each point is the gradient of one batch; a mean away "
            "from the arrow is bias, a wide cloud is noise. Each picture has the plane through "
            "the true gradient and its own layout's mean.",
        ]
    )
    if not plane:
        words = tag("p", "There is no picture of this stage.", class_="muted")
        return section("bias", "Bias, seen", lead, words, link="Bias")
    seen = views(plane)
    drawn = side_by_side(_picture(one, view) for one, view in zip(plane, seen, strict=True))
    notes = [tag("p", one, class_="muted") for one in _remarks(seen)]
    return section("bias", "Bias, seen", lead, _key(), drawn, *notes, link="Bias")


def _picture(one: LayoutCloud, view: View) -> Part:
    words = f"Batch gradients of {layout_name(one)} and the true gradient, in a plane."
    title = layout_mark(one)
    return chart(f"plane-{one.steps}", words, [plane_chart(one, view)], title)


def _remarks(seen: list[View]) -> list[str]:
    same = len({(one.low, one.high) for one in seen}) == 1
    found = [
        "Both axes have the same scale, and all pictures share it."
        if same
        else "Both axes of a picture have the same scale, but the pictures differ: on one scale "
        "the smaller cloud would be a dot."
    ]
    if not all(one.whole for one in seen):
        found.append(
            "The arrow goes on beyond the right edge: batch gradients here are much shorter than "
            "the true one, and its end is left out so that they can be seen."
        )
    return found


def _key() -> Markup:
    return key(
        ("ink", "arrow", None, term("true_gradient")),
        ("vermillion", "diamond", "solid", "mean gradient"),
        ("sky", "circle", None, "gradients of single batches"),
        ("blue", "none", "dash", "holds 95 % of them"),
    )


def source_section(stage: StageAdvice, looked: Look) -> Part:
    """Return what the variance is made of, and what synchronised starts add to it."""
    layouts = looked.sources.layouts
    lead = f"At {stage.name}: what the variance of one layout's gradient is made of."
    if not layouts:
        reason = looked.sources.reason or "no reason given"
        words = tag("p", f"The sources were not measured: {reason}.", class_="notice")
        content: list[Content] = [words, _phase_block(looked)]
        return section("sources", "Sources of noise", lead, *content, link="Sources")
    layout = layouts[0]
    title = join(["At ", layout_mark(layout)])
    told = f"Shares of the variance by source at {layout_name(layout)}, actor and critic."
    drawn = chart("sources", told, [source_chart(layout)], title)
    marks = key(
        ("blue", "circle", None, term("actor")), ("vermillion", "square", None, term("critic"))
    )
    row = wrap("div", wrap("div", marks, drawn), _source_table(layout), class_="row")
    content = [row, _phase_block(looked)]
    return section("sources", "Sources of noise", lead, *content, link="Sources")


def _source_table(layout: LayoutSources) -> Markup:
    rows = [
        tag(
            "tr",
            tag("td", term(name), tag("br"), tag("small", _meaning(name))),
            *(tag("td", shown(share_of(layout.of(g), name), 100, " %")) for g in _GRADIENTS),
        )
        for name in SOURCES
    ]
    return table("Sources of noise", ["source", *_GRADIENTS], rows)


def _meaning(name: str) -> str:
    return TERMS[name][1].removeprefix("Noise from ").rstrip(".")


def _phase_block(looked: Look) -> Markup | None:
    """Return what envs that start together add to the variance, as a multiple of it."""
    rows = [one for one in looked.layouts if known(one.actor.phase)]
    if not rows:
        return None
    head: list[Child] = ["N × T", *_GRADIENTS, "both together"]
    cells = [
        tag(
            "tr",
            tag("td", layout_mark(one)),
            *(tag("td", _multiple(g)) for g in (one.actor, one.critic, one.total)),
        )
        for one in rows
    ]
    words = tag(
        "p",
        "Variance that envs at the same ",
        term("phase"),
        " add, as a multiple of what the layout has by itself. ",
        _phase_words(rows),
        class_="lead",
    )
    body = table("Variance of synchronised starts", head, cells)
    return join([tag("h3", "If all envs start together"), words, body])


def _phase_words(rows: Sequence[MeasuredLayout]) -> str:
    """Say what helps against it, if any interval shows that there is something."""
    parts = [one.of(name).phase for one in rows for name in OBJECTIVES]
    if any(isinstance(part, Estimate) and known(part) and part.low > 0 for part in parts):
        return "Where its interval is above zero: more envs do not remove it, staggered starts do."
    return "No interval is above zero, so nothing of the kind is shown here."


def _multiple(gradient: Gradient) -> Markup:
    part = gradient.phase if isinstance(gradient.phase, Estimate) else Number(value=None)
    return shown(divided(part, gradient.variance))
