"""Where the variance comes from: its terms by T, and correlations by lag."""

from collections.abc import Sequence
from math import log10
from typing import Literal

from nbyt.report.figures.parts import (
    bar,
    figure,
    named_texts,
    places_axis,
    scatter,
    spread,
    value_axis,
    values_of,
)
from nbyt.report.html.element import Child, Markup, join, tag
from nbyt.report.html.glossary import term
from nbyt.report.html.key import key
from nbyt.report.html.page import (
    Content,
    Part,
    by_stage,
    chart,
    numbers,
    row,
    section,
    side_by_side,
    table,
)
from nbyt.report.html.quantity import layout_mark, reasons_of, shown
from nbyt.report.numbers import known, power_of_ten, words
from nbyt.report.pages.advice.tradeoff import Probed, start_of
from nbyt.results.advice import Advice, StageAdvice
from nbyt.results.measurement import Lags, Layouts
from nbyt.results.values import Data, Number, Objective

_BARS: dict[str, Data] = {
    "individual": {"color": "@sky"},
    "covariance": {
        "color": "@orange",
        "pattern": {"shape": "/", "fgcolor": "@ink:0.4", "fillmode": "overlay", "size": 7},
    },
}

_SHOWN = ("individual", "covariance", "variance")
_MOST = 3.0  # times the highest bar


def term_charts(data: Advice | Probed, gradient: Literal["actor", "critic"]) -> list[Data]:
    """Return stacked bars of individual and covariance, a chart for each stage."""
    return [_terms(stage, gradient) for stage in data.stages]


def lag_charts(data: Advice | Probed, gradient: Literal["actor", "critic"]) -> list[Data]:
    """Return the correlation of contributions by lag, a chart for each stage."""
    return [_lags(stage.lags.of(gradient)) for stage in data.stages]


def terms_range(stage: StageAdvice, gradient: Objective) -> tuple[float, float, bool]:
    """Return the range that is drawn, and whether it cuts off intervals.

    An interval may be a hundred times as long as the bars are high; then the bars decide.
    """
    rows = [one.of(gradient) for one in stage.layouts]
    values = [x.value for row in rows for name in _SHOWN if known(x := row.of(name))]
    ends = [x.high for row in rows if known(x := row.variance)]
    lowest, highest = min([0.0, *values]), max([0.0, *values])
    wanted = max([highest, *ends])
    top = min(wanted, _MOST * highest) if highest else wanted
    return 1.06 * lowest, 1.06 * top or 1.0, wanted > top


def _terms(stage: StageAdvice, gradient: Objective) -> Data:
    layouts = stage.layouts
    power = power_of_ten([one.of(gradient).variance for one in layouts])
    scale = 10.0**-power
    low, high, _ = terms_range(stage, gradient)
    unit = f"10<sup>{power}</sup> gradient units²" if power else "gradient units²"
    traces = [_bar(layouts, gradient, name, scale) for name in _BARS]
    return figure(
        [*traces, _sum(layouts, gradient, scale)],
        330,
        barmode="relative",
        bargap=0.35,
        xaxis=places_axis(layouts),
        yaxis=value_axis(f"variance ({unit})", range=[low * scale, high * scale]),
    )


def _bar(layouts: Layouts, gradient: Objective, name: str, scale: float) -> Data:
    numbers = [one.of(gradient).of(name) for one in layouts]
    x, texts = range(len(layouts)), named_texts(layouts, numbers, name)
    return bar(x, values_of(numbers, scale), name, texts, _BARS[name])


def _sum(layouts: Layouts, gradient: Objective, scale: float) -> Data:
    """Return points of the variance itself, with intervals."""
    numbers = [one.of(gradient).variance for one in layouts]
    x, texts = range(len(layouts)), named_texts(layouts, numbers, "variance")
    marker, bars = {"symbol": "diamond", "size": 7, "color": "@ink"}, spread(numbers, "ink", scale)
    y = values_of(numbers, scale)
    return scatter(x, y, "variance", texts, marker=marker, error_y=bars)


def _lags(profile: Lags) -> Data:
    within = sorted(profile.within.items(), key=lambda pair: int(pair[0]))
    lags = [int(lag) for lag, _ in within]
    numbers = [number for _, number in within]
    main = scatter(
        lags,
        values_of(numbers),
        "within a trajectory",
        [f"{lag} steps apart: {words(number)}" for lag, number in within],
        mode="lines+markers",
        error_y=spread(numbers, "blue"),
        line={"color": "@blue", "width": 2},
        marker={"symbol": "circle", "size": 7, "color": "@blue"},
    )
    return figure(
        [*_across(profile.across, lags), main],
        280,
        xaxis={
            "type": "log",
            "range": [log10(min(lags, default=1)) - 0.12, log10(max(lags, default=1)) + 0.12],
            "title": {"text": "steps between two contributions"},
            "tickvals": lags,
            "ticktext": [str(lag) for lag in lags],
        },
        yaxis=value_axis("correlation"),
        margin={"l": 62, "r": 14, "t": 14, "b": 52},
    )


def _across(number: Number, lags: Sequence[int]) -> list[Data]:
    """Return a line with a band: contributions of different trajectories at one time."""
    if not known(number) or not lags:
        return []
    x, y = [lags[0], lags[-1]], [number.value] * 2
    ends = [number.low, number.low, number.high, number.high]
    fill = {"color": "@vermillion", "width": 2, "dash": "dash"}
    band = scatter([*x, *reversed(x)], ends, mode="lines", fill="toself", line={"width": 0})
    texts = [f"across trajectories: {words(number)}"] * 2
    middle = scatter(x, y, "across trajectories", texts, mode="lines", line=fill)
    return [{**band, "fillcolor": "@vermillion:0.18"}, middle]


_GRADIENTS: tuple[Literal["actor", "critic"], ...] = ("actor", "critic")


def variance_section(data: Advice | Probed) -> Part:
    """Return terms and lag correlations of actor and critic, side by side."""
    start = start_of(data)
    terms = side_by_side(_terms_chart(data, one) for one in _GRADIENTS)
    lags = side_by_side(_lags_chart(data, one) for one in _GRADIENTS)
    tables = by_stage([_tables(stage) for stage in data.stages], start)
    missing = by_stage([_missing(stage) for stage in data.stages], start)
    content: list[Content] = [
        _terms_key(),
        terms,
        missing,
        numbers("The numbers", tables),
        tag("h3", "How alike are two contributions?"),
        _lags_lead(),
        _lags_key(),
        lags,
        numbers("The numbers", by_stage([_lag_table(one) for one in data.stages], start)),
    ]
    title = "Where the variance comes from"
    return section("variance", title, _lead(), *content, link="Variance")


def _lead() -> Markup:
    return join(
        [
            "The variance of a batch's gradient is what single steps scatter (",
            term("individual"),
            ") plus what they scatter together (",
            term("covariance"),
            "). Where covariance is clearly above zero, more envs and fewer steps help; where it "
            "is clearly below, it lowers the variance; where its interval holds zero, neither is "
            "shown.",
        ]
    )


def _lags_lead() -> Markup:
    return tag(
        "p",
        "Correlation of two ",
        term("contribution", "contributions"),
        " so many steps apart in one trajectory, and of different trajectories at one time; "
        "the second should be zero.",
        class_="lead",
    )


def _terms_chart(data: Advice | Probed, gradient: Literal["actor", "critic"]) -> Part:
    words = f"Individual and covariance terms of the {gradient}'s variance for every T."
    return chart(f"terms-{gradient}", words, term_charts(data, gradient), _title(gradient))


def _lags_chart(data: Advice | Probed, gradient: Literal["actor", "critic"]) -> Part:
    words = f"Correlation of the {gradient}'s contributions against the steps between them."
    return chart(f"lags-{gradient}", words, lag_charts(data, gradient), _title(gradient))


def _title(gradient: Objective) -> Markup:
    return term(gradient, gradient.capitalize())


def _terms_key() -> Markup:
    return key(
        ("sky", "bar", None, term("individual")),
        ("orange", "hatched", None, term("covariance")),
        ("ink", "diamond", None, "variance, with its interval"),
    )


def _lags_key() -> Markup:
    return key(
        ("blue", "circle", "solid", "within a trajectory"),
        ("vermillion", "none", "dash", "across trajectories"),
    )


def _missing(stage: StageAdvice) -> Markup | None:
    """Return what is not drawn, and whether intervals leave the chart."""
    cut = [gradient for gradient in _GRADIENTS if terms_range(stage, gradient)[2]]
    words = f"Intervals of the {' and the '.join(cut)} go beyond the top; the numbers have them."
    remark = tag("p", words, class_="missing") if cut else None
    absent = _absent(stage)
    return join([remark, absent]) if remark or absent else None


def _absent(stage: StageAdvice) -> Markup | None:
    return reasons_of(
        (f"{gradient} {name}", one.steps, one.of(gradient).of(name))
        for gradient in _GRADIENTS
        for name in _SHOWN
        for one in stage.layouts
    )


def _tables(stage: StageAdvice) -> Markup:
    head: list[Child] = ["N × T"]
    head += [f"{gradient}, {name}" for gradient in _GRADIENTS for name in _SHOWN]
    rows = [
        row(layout_mark(one), *(shown(one.of(g).of(x)) for g in _GRADIENTS for x in _SHOWN))
        for one in stage.layouts
    ]
    return table(f"Terms of the variance at {stage.name}", head, rows)


def _lag_table(stage: StageAdvice) -> Markup:
    profiles = [stage.lags.of(gradient) for gradient in _GRADIENTS]
    lags = sorted(profiles[0].within, key=int)
    rows = [row(lag, *(shown(profile.within[lag]) for profile in profiles)) for lag in lags]
    rows.append(row("across trajectories", *(shown(profile.across) for profile in profiles)))
    return table(f"Correlations at {stage.name}", ["steps apart", *_GRADIENTS], rows)
