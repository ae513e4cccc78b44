"""Where the variance comes from: its terms by T, and how alike neighbouring steps are."""

from nbyt.report.page.charts.terms import lag_charts, term_charts, terms_range
from nbyt.report.page.element import Child, Markup, join, tag
from nbyt.report.page.glossary import term
from nbyt.report.page.key import key
from nbyt.report.page.part import Part, by_stage, chart, numbers, section, side_by_side, table
from nbyt.report.page.quantity import layout_mark, reasons_of, shown
from nbyt.report.page.sections.stages import start_of
from nbyt.results.values import Data

_GRADIENTS = ("actor", "critic")
_TERMS = ("individual", "covariance", "variance")


def variance_section(data: Data) -> Part:
    """Terms and lag correlations of actor and critic, side by side."""
    start = start_of(data)
    terms = side_by_side(_terms_chart(data, one) for one in _GRADIENTS)
    lags = side_by_side(_lags_chart(data, one) for one in _GRADIENTS)
    tables = by_stage([_tables(stage) for stage in data["stages"]], start)
    missing = by_stage([_missing(stage) for stage in data["stages"]], start)
    content = [
        _terms_key(),
        terms.html,
        missing,
        numbers("The numbers", tables),
        tag("h3", "How alike are two contributions?"),
        _lags_lead(),
        _lags_key(),
        lags.html,
        numbers("The numbers", by_stage([_lag_table(one) for one in data["stages"]], start)),
    ]
    html = section("variance", "Where the variance comes from", _lead(), *content)
    return Part(html, {**terms.charts, **lags.charts})


def _lead() -> Markup:
    return join(
        [
            "The variance of a batch's gradient is what single steps scatter (",
            term("individual"),
            ") plus what they scatter together (",
            term("covariance"),
            "). Where covariance is large, more envs and fewer steps help; where it is near "
            "zero, they do not. Below zero it lowers the variance.",
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


def _terms_chart(data: Data, gradient: str) -> Part:
    words = f"Individual and covariance terms of the {gradient}'s variance for every T."
    return chart(f"terms-{gradient}", words, term_charts(data, gradient), _title(gradient))


def _lags_chart(data: Data, gradient: str) -> Part:
    words = f"Correlation of the {gradient}'s contributions against the steps between them."
    return chart(f"lags-{gradient}", words, lag_charts(data, gradient), _title(gradient))


def _title(gradient: str) -> Markup:
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


def _missing(stage: Data) -> Markup | None:
    """What is not drawn, and whether intervals leave the picture."""
    cut = [gradient for gradient in _GRADIENTS if terms_range(stage, gradient)[2]]
    words = f"Intervals of the {' and the '.join(cut)} go beyond the top; the numbers have them."
    remark = tag("p", words, class_="missing") if cut else None
    absent = _absent(stage)
    return join([remark, absent]) if remark or absent else None


def _absent(stage: Data) -> Markup | None:
    return reasons_of(
        (f"{gradient} {name}", one["steps"], one[gradient][name])
        for gradient in _GRADIENTS
        for name in _TERMS
        for one in stage["layouts"]
    )


def _tables(stage: Data) -> Markup:
    head: list[Child] = ["N × T"]
    head += [f"{gradient}, {name}" for gradient in _GRADIENTS for name in _TERMS]
    rows = [
        tag(
            "tr",
            tag("td", layout_mark(one)),
            *(tag("td", shown(one[g][name])) for g in _GRADIENTS for name in _TERMS),
        )
        for one in stage["layouts"]
    ]
    return table(f"Terms of the variance at {stage['name']}", head, rows)


def _lag_table(stage: Data) -> Markup:
    profiles = [stage["lags"][gradient] for gradient in _GRADIENTS]
    lags = sorted(profiles[0]["within"], key=int)
    rows = [
        tag("tr", tag("td", lag), *(tag("td", shown(one["within"][lag])) for one in profiles))
        for lag in lags
    ]
    last = (tag("td", shown(one["across"])) for one in profiles)
    rows.append(tag("tr", tag("td", "across trajectories"), *last))
    return table(f"Correlations at {stage['name']}", ["steps apart", *_GRADIENTS], rows)
