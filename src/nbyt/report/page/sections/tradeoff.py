"""The trade-off: long rollouts point better, many envs scatter less."""

from nbyt.report.page.charts.factors import FACTORS, factor_charts
from nbyt.report.page.element import Child, Markup, join, tag
from nbyt.report.page.glossary import term
from nbyt.report.page.key import key
from nbyt.report.page.part import Part, by_stage, chart, numbers, section, table
from nbyt.report.page.quantity import layout_mark, reasons_of, shown
from nbyt.report.page.sections.stages import start_of
from nbyt.report.page.sections.wording import gradient_words
from nbyt.results.values import Data

_COLUMNS = {**dict.fromkeys(FACTORS), "cosine": None, "ess_ratio": None}


def tradeoff_section(data: Data) -> Part:
    """The chart of the factors, the libraries' defaults, and the numbers."""
    start = start_of(data)
    drawn = chart("factors", _description(data), factor_charts(data))
    missing = by_stage([_missing(data, stage) for stage in data["stages"]], start)
    tables = by_stage([_table(data, stage) for stage in data["stages"]], start)
    content = [_key(), drawn.html, missing, _defaults(data), numbers("The numbers", tables)]
    return Part(section("tradeoff", "The trade-off", _lead(data), *content), drawn.charts)


def _lead(data: Data) -> Markup:
    return join(
        [
            "A long rollout needs the critic less, so its gradient points better (",
            term("bias_factor"),
            "). Many envs give steps that are less alike, so it scatters less (",
            term("noise_factor"),
            "). Their product is the ",
            term("alignment"),
            ". All numbers are of the ",
            gradient_words(data["objective"]),
            "; bands are 95 % intervals.",
        ]
    )


def _description(data: Data) -> str:
    return (
        f"Bias factor, noise factor and alignment of the {gradient_words(data['objective'])} "
        "against T, for the chosen stage. The numbers are in the table below the chart."
    )


def _key() -> Markup:
    return key(
        ("blue", "circle", "solid", term("alignment")),
        ("vermillion", "square", "dash", term("bias_factor")),
        ("green", "triangle-up", "dot", term("noise_factor")),
        ("star", "star", None, "advised"),
        ("muted", "triangle-down", None, term("default")),
    )


def _missing(data: Data, stage: Data) -> Markup | None:
    return reasons_of(
        (name.replace("_", " "), one["steps"], one[data["objective"]][name])
        for name in FACTORS
        for one in stage["layouts"]
    )


def _defaults(data: Data) -> Markup | None:
    """Which library's default T is nearest to which compared T."""
    rows = sorted(data["advice"]["per_sample"]["ranking"], key=lambda row: row["steps"])
    items = [
        tag("li", tag("strong", f"T = {row['steps']} "), ", ".join(row["defaults_of"]))
        for row in rows
        if row["defaults_of"]
    ]
    if not items:
        return None
    return tag("div", tag("h3", "Library defaults by T"), tag("ul", *items, class_="defaults"))


def _table(data: Data, stage: Data) -> Markup:
    head: list[Child] = [
        "N × T",
        term("bias_factor"),
        term("noise_factor"),
        term("alignment"),
        "cosine",
        join([term("ess"), " / NT"]),
    ]
    rows = [
        tag(
            "tr",
            tag("td", layout_mark(one)),
            *(tag("td", shown(one[data["objective"]][name])) for name in _COLUMNS),
        )
        for one in stage["layouts"]
    ]
    return table(f"Factors at {stage['name']}", head, rows)
