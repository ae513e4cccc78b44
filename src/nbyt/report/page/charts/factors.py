"""Bias factor, noise factor and alignment against T: the trade-off itself."""

from math import log10
from typing import Any

from nbyt.report.page.charts.parts import figure, line, steps_axis, value_axis
from nbyt.report.page.escape import for_chart
from nbyt.report.page.quantity import known
from nbyt.results.values import Data

FACTORS: dict[str, Data] = {
    "bias_factor": {"colour": "vermillion", "dash": "dash", "symbol": "square", "size": 6},
    "noise_factor": {"colour": "green", "dash": "dot", "symbol": "triangle-up", "size": 7},
    "alignment": {"colour": "blue", "dash": "solid", "symbol": "circle", "width": 3, "size": 8},
}
_LOWEST, _HIGHEST = -1.15, 2.0


def factor_charts(data: Data) -> list[Data]:
    """One chart for each stage, all with the same top."""
    top = max(_bounds(data, stage)[1] for stage in data["stages"])
    return [_chart(data, stage, [_bounds(data, stage)[0], top]) for stage in data["stages"]]


def advised(data: Data) -> list[tuple[str, Data]]:
    """Each advised layout with what it is best for."""
    answers = data["advice"]
    pairs = [
        (word, answers.get(key))
        for word, key in (("per sample", "per_sample"), ("per second", "per_second"))
    ]
    found = [(word, one) for word, one in pairs if one is not None]
    if len(found) == 2 and found[0][1]["steps"] == found[1][1]["steps"]:
        return [("per sample and per second", found[0][1])]
    return found


def _chart(data: Data, stage: Data, bounds: list[float]) -> Data:
    layouts, objective = stage["layouts"], data["objective"]
    traces: list[Data] = []
    # Alignment first: where noise is all that matters its thick line would hide the other.
    for name in ("alignment", "bias_factor", "noise_factor"):
        numbers = [one[objective][name] for one in layouts]
        traces += line(layouts, numbers, name.replace("_", " "), FACTORS[name])
    traces += [*_stars(data, stage), _defaults(data, layouts, bounds)]
    shapes, notes = _verticals(data, layouts)
    return figure(
        traces,
        430,
        xaxis=steps_axis(layouts),
        yaxis=value_axis("share (1 is the best)", range=bounds),
        margin={"l": 62, "r": 14, "t": 50, "b": 64},
        shapes=[*_wrong_way(bounds), *shapes],
        annotations=notes,
    )


def _bounds(data: Data, stage: Data) -> list[float]:
    """From below the smallest value to above the largest."""
    numbers = [one[data["objective"]][name] for one in stage["layouts"] for name in FACTORS]
    values = [one["value"] for one in numbers if known(one)]
    low, high = min([0.0, *values]) - 0.06, max([1.0, *values]) + 0.14
    return [max(low, _LOWEST), min(high, _HIGHEST)]


def _stars(data: Data, stage: Data) -> list[Data]:
    """The advised points on the line of alignments."""
    own = {one["steps"]: one[data["objective"]]["alignment"] for one in stage["layouts"]}
    at = [one["steps"] for _, one in advised(data) if known(own.get(one["steps"]))]
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "advised",
            "x": at,
            "y": [own[steps]["value"] for steps in at],
            "marker": {
                "symbol": "star",
                "size": 17,
                "color": "@star",
                "line": {"color": "@ink", "width": 1.3},
            },
            "hoverinfo": "skip",
        }
    ]


def _verticals(data: Data, layouts: list[Data]) -> tuple[list[Data], list[Data]]:
    """A line at each advised T, and above the chart what it is advised for."""
    order = [one["steps"] for one in layouts]
    shapes, notes = [], []
    for row, (word, one) in enumerate(advised(data)):
        at = one["steps"]
        right = at in order and order.index(at) > len(order) / 2
        line = {"color": "@ink:0.45", "width": 1.2, "dash": "dot"}
        ends = {"x0": at, "x1": at, "y0": 0, "y1": 1.01 + 0.055 * row}
        shapes.append({"type": "line", "yref": "paper", "layer": "below", "line": line, **ends})
        notes.append(_note(f"★ {one['envs']}x{at} advised {word}", at, 1.01 + 0.055 * row, right))
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


def _defaults(data: Data, layouts: list[Data], bounds: list[float]) -> Data:
    """A mark near the top at every T that is some library's default."""
    named = {row["steps"]: row["defaults_of"] for row in data["advice"]["per_sample"]["ranking"]}
    at = [one["steps"] for one in layouts if named.get(one["steps"])]
    texts = [for_chart(f"T = {steps} is nearest to: {', '.join(named[steps])}") for steps in at]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "library default",
        "x": at,
        "y": [bounds[1] - 0.035 * (bounds[1] - bounds[0])] * len(at),
        "marker": {"symbol": "triangle-down-open", "size": 9, "color": "@muted"},
        "hovertext": texts,
        "hoverinfo": "text",
    }


def _wrong_way(bounds: list[float]) -> list[dict[str, Any]]:
    """The ground below zero, where a gradient points away from the true one."""
    ends = {"xref": "paper", "x0": 0, "x1": 1, "y0": bounds[0], "y1": 0}
    look = {"fillcolor": "@ink:0.05", "line": {"width": 0}, "layer": "below"}
    return [{"type": "rect", **ends, **look}]
