"""Performance against T: every layout's IQM with its interval, and every seed behind it."""

from nbyt.report.page.charts.parts import figure, line, steps_axis, value_axis
from nbyt.report.page.element import Child, Markup
from nbyt.report.page.escape import for_chart
from nbyt.report.page.key import key
from nbyt.report.page.part import Part, chart, section, side_by_side
from nbyt.report.page.quantity import layout_name
from nbyt.report.sweep.layouts import advised_place, best_place, is_known, kinds_of
from nbyt.report.sweep.standings import standings
from nbyt.results.values import Data

_LOOK = {"colour": "blue", "dash": "solid", "symbol": "circle", "size": 6}
_TITLES = {
    "per_sample": "For the same samples: mean return over training",
    "per_second": "For the same time: mean return until the fastest is through",
}


def steps_section(data: Data) -> Part:
    """A chart for each way of counting, and all numbers in a table."""
    kinds = kinds_of(data)
    if not kinds:
        return Part(section("steps", "Performance against T", "No training was finished."))
    drawn = side_by_side(
        chart(f"steps-{kind}", f"{_TITLES[kind]} against T.", [_chart(data, kind)], _TITLES[kind])
        for kind in kinds
    )
    lead = (
        "Each dot is a training. The line goes through the IQM, the mean of the middle half of "
        "the seeds; its band is the 95 % interval."
    )
    content = [_key(data), drawn.html, *standings(data, kinds)]
    return drawn.inside(section("steps", "Performance against T", lead, *content))


def _chart(data: Data, kind: str) -> Data:
    layouts = [one for one in data["layouts"] if is_known(one, kind)]
    numbers = [one[kind]["over_training"] for one in layouts]
    traces = [_dots(layouts, kind), *line(layouts, numbers, "IQM", _LOOK)]
    marks = [
        _defaults(layouts, kind),
        _mark(data, kind, advised_place(data, kind), "advised", "diamond-open", "ink", 19),
        _mark(data, kind, best_place(data, kind), "best", "star", "star", 16),
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
