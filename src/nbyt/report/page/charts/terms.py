"""Where the variance comes from: its two terms for every T, and how alike contributions are."""

from collections.abc import Sequence
from math import log10

from nbyt.report.numbers import power_of_ten
from nbyt.report.page.charts.parts import figure, places_axis, spread, value_axis
from nbyt.report.page.escape import for_chart
from nbyt.report.page.quantity import Number, known, layout_name, words
from nbyt.results.values import Data

_BARS: dict[str, Data] = {
    "individual": {"color": "@sky"},
    "covariance": {
        "color": "@orange",
        "pattern": {"shape": "/", "fgcolor": "@ink:0.4", "fillmode": "overlay", "size": 7},
    },
}

_SHOWN = ("individual", "covariance", "variance")
_MOST = 3.0  # times the highest bar


def term_charts(data: Data, gradient: str) -> list[Data]:
    """Individual and covariance on top of each other, a chart for each stage."""
    return [_terms(stage, gradient) for stage in data["stages"]]


def lag_charts(data: Data, gradient: str) -> list[Data]:
    """Correlation of contributions against the steps between them, a chart for each stage."""
    return [_lags(stage["lags"][gradient]) for stage in data["stages"]]


def terms_range(stage: Data, gradient: str) -> tuple[float, float, bool]:
    """From the lowest to the highest that is drawn, and whether intervals are cut for it.

    An interval may be a hundred times as long as the bars are high; then the bars decide.
    """
    rows = [one[gradient] for one in stage["layouts"]]
    values = [row[name]["value"] for row in rows for name in _SHOWN if known(row[name])]
    ends = [row["variance"]["high"] for row in rows if known(row["variance"])]
    lowest, highest = min([0.0, *values]), max([0.0, *values])
    wanted = max([highest, *ends])
    top = min(wanted, _MOST * highest) if highest else wanted
    return 1.06 * lowest, 1.06 * top or 1.0, wanted > top


def _terms(stage: Data, gradient: str) -> Data:
    layouts = stage["layouts"]
    power = power_of_ten([one[gradient]["variance"] for one in layouts])
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


def _bar(layouts: Sequence[Data], gradient: str, name: str, scale: float) -> Data:
    numbers = [one[gradient][name] for one in layouts]
    return {
        "type": "bar",
        "name": name,
        "x": list(range(len(layouts))),
        "y": [scale * one["value"] if known(one) else None for one in numbers],
        "marker": {**_BARS[name], "line": {"width": 0}},
        "hovertext": _texts(layouts, numbers, name),
        "hoverinfo": "text",
    }


def _sum(layouts: Sequence[Data], gradient: str, scale: float) -> Data:
    """The variance itself, with its interval."""
    numbers = [one[gradient]["variance"] for one in layouts]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "variance",
        "x": list(range(len(layouts))),
        "y": [scale * one["value"] if known(one) else None for one in numbers],
        "error_y": {**spread(numbers, scale), "color": "@ink"},
        "marker": {"symbol": "diamond", "size": 7, "color": "@ink"},
        "hovertext": _texts(layouts, numbers, "variance"),
        "hoverinfo": "text",
    }


def _texts(layouts: Sequence[Data], numbers: Sequence[Number], name: str) -> list[str]:
    pairs = zip(layouts, numbers, strict=True)
    return [for_chart(f"{layout_name(one)}: {name} {words(number)}") for one, number in pairs]


def _lags(profile: Data) -> Data:
    within = sorted(profile["within"].items(), key=lambda pair: int(pair[0]))
    lags = [int(lag) for lag, _ in within]
    numbers = [number for _, number in within]
    main = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "within a trajectory",
        "x": lags,
        "y": [one["value"] if known(one) else None for one in numbers],
        "error_y": {**spread(numbers), "color": "@blue"},
        "line": {"color": "@blue", "width": 2},
        "marker": {"symbol": "circle", "size": 7, "color": "@blue"},
        "hovertext": [for_chart(f"{lag} steps apart: {words(number)}") for lag, number in within],
        "hoverinfo": "text",
    }
    return figure(
        [*_across(profile["across"], lags), main],
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
    """A line with a band: contributions of different trajectories at one time."""
    if not known(number) or not lags:
        return []
    x = [lags[0], lags[-1]]
    ends = [number["low"], number["low"], number["high"], number["high"]]
    text = for_chart(f"across trajectories: {words(number)}")
    band = {"fill": "toself", "fillcolor": "@vermillion:0.18", "line": {"width": 0}}
    line = {"color": "@vermillion", "width": 2, "dash": "dash"}
    common = {"type": "scatter", "mode": "lines"}
    return [
        {**common, "x": [*x, *reversed(x)], "y": ends, "hoverinfo": "skip", **band},
        {
            **common,
            "name": "across trajectories",
            "x": x,
            "y": [number["value"]] * 2,
            "line": line,
            "hovertext": [text, text],
            "hoverinfo": "text",
        },
    ]
