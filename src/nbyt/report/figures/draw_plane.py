"""Draw batch gradients with the true one, in the plane of it and a layout's mean gradient."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nbyt.report.figures.drawn import Drawn, remarks
from nbyt.report.figures.parts import figure, value_axis
from nbyt.report.html.element import Markup, for_chart
from nbyt.report.html.key import key
from nbyt.results.values import Data

_REACH = math.sqrt(5.991)  # 95 % of a normal law in two dimensions
_CORNERS = 72
_FAR = 3.0  # the arrow's end is shown unless that makes the picture so many times wider
_TINY = 25.0  # clouds that differ by more than this have scales of their own


@dataclass(frozen=True)
class View:
    """The visible part of the plane."""

    low: float
    high: float
    bottom: float
    top: float

    @property
    def whole(self) -> bool:
        """Return True if the true gradient ends inside."""
        return self.high >= 1


def views(plane: Sequence[Data]) -> list[View]:
    """Return one view for each layout: a common one, unless small clouds would then be dots."""
    own = [_view([one]) for one in plane]
    widths = [one.high - one.low for one in own]
    clouds = [max(_spans(one)) for one in plane]
    if max(clouds) > _TINY * min(clouds) and max(widths) > min(widths):
        return own
    return [_view(plane)] * len(plane)


def plane_chart(one: Data, view: View, goal: str = "the true gradient") -> Data:
    """Draw points, mean, 95 % ellipse and the true gradient, with equal scales on both axes.

    goal: what the arrow to (1, 0) is.
    """
    return figure(
        [_points(one), _ellipse_trace(one), _true_gradient(), _mean(one)],
        330,
        xaxis={
            "title": {"text": for_chart(f"along {goal} (its length is 1)")},
            "range": [view.low, view.high],
            "zeroline": True,
            "nticks": 7,
        },
        yaxis=value_axis(
            "away from it (same unit)",
            range=[view.bottom, view.top],
            scaleanchor="x",
            scaleratio=1,
        ),
        annotations=[_end(view)],
        margin={"l": 62, "r": 18, "t": 18, "b": 52},
    )


def _view(plane: Sequence[Data]) -> View:
    seen = [point for one in plane for point in (*_ellipse(one), *one["points"])]
    xs, ys = [0.0, *(x for x, _ in seen)], [0.0, *(y for _, y in seen)]
    low, high, bottom, top = min(xs), max(xs), min(ys), max(ys)
    if 1 - low <= _FAR * (high - low):
        high = max(high, 1.0)
    room = 0.06 * max(high - low, top - bottom, 1e-12)
    return View(low - room, high + room, bottom - room, top + room)


def _spans(one: Data) -> tuple[float, float]:
    edge = _ellipse(one)
    xs, ys = [x for x, _ in edge], [y for _, y in edge]
    return max(xs) - min(xs), max(ys) - min(ys)


def _ellipse(one: Data) -> list[tuple[float, float]]:
    """Return the edge of the region with 95 % of batch gradients, if they scatter normally."""
    (a, b), (_, d) = one["covariance"]
    # A root of the covariance: [[root, 0], [b / root, rest]].
    root = math.sqrt(max(a, 0.0))
    slope = b / root if root else 0.0
    rest = math.sqrt(max(d - slope**2, 0.0))
    x, y = one["mean"]
    angles = [2 * math.pi * k / _CORNERS for k in range(_CORNERS + 1)]
    return [
        (
            x + _REACH * root * math.cos(angle),
            y + _REACH * (slope * math.cos(angle) + rest * math.sin(angle)),
        )
        for angle in angles
    ]


def _points(one: Data) -> Data:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "batch gradients",
        "x": [x for x, _ in one["points"]],
        "y": [y for _, y in one["points"]],
        "marker": {"size": 5, "color": "@sky:0.75", "line": {"width": 0}},
        "hoverinfo": "skip",
    }


def _ellipse_trace(one: Data) -> Data:
    edge = _ellipse(one)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "95 % of batch gradients",
        "x": [x for x, _ in edge],
        "y": [y for _, y in edge],
        "line": {"color": "@blue", "width": 1.6, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _mean(one: Data) -> Data:
    x, y = one["mean"]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "mean gradient",
        "x": [0, x],
        "y": [0, y],
        "line": {"color": "@vermillion", "width": 2},
        "marker": {
            "symbol": "diamond",
            "size": [0, 10],
            "opacity": 1,
            "color": "@vermillion",
            "line": {"width": 0},
        },
        "hoverinfo": "skip",
    }


def _true_gradient() -> Data:
    """Draw the line from 0 to 1; the axes cut it if its end is not visible."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "true gradient",
        "x": [0, 1],
        "y": [0, 0],
        "line": {"color": "@ink", "width": 2.6},
        "hoverinfo": "skip",
    }


def _end(view: View) -> Data:
    """Draw the arrow's head at 1, or at the edge of the chart."""
    common = {"text": "▶", "showarrow": False, "font": {"size": 15, "color": "@ink"}, "y": 0}
    if view.whole:
        return {**common, "x": 1, "xanchor": "right"}
    text = "on to 1 ▶"
    place = {"x": 1, "xref": "paper", "xanchor": "right", "yanchor": "bottom"}
    return {**common, **place, "text": text, "font": {"size": 12, "color": "@ink"}}


def plane_drawn(frames: Sequence[Data]) -> Drawn:
    """Draw a chart for each frame, with a common view if that shows them all."""
    return planes_drawn([frames])[0]


def planes_drawn(rows: Sequence[Sequence[Data]]) -> list[Drawn]:
    """Draw several figures side by side, which then share their view too."""
    seen = iter(views([one["cloud"] for frames in rows for one in frames]))
    return [_drawn([(one, next(seen)) for one in frames]) for frames in rows]


def _drawn(pairs: Sequence[tuple[Data, View]]) -> Drawn:
    return Drawn(
        [plane_chart(one["cloud"], view, one["goal"]) for one, view in pairs],
        [_key(one) for one, _ in pairs],
        [_remarks(one, view) for one, view in pairs],
    )


def _key(one: Data) -> Markup:
    return key(
        ("ink", "arrow", None, one["goal"]),
        ("vermillion", "diamond", "solid", "mean"),
        ("sky", "circle", None, one["points"]),
        ("blue", "none", "dash", "holds 95 % of them"),
    )


def _remarks(one: Data, view: View) -> Markup | None:
    if view.whole:
        return None
    return remarks([], [f"The arrow of {one['goal']} goes on beyond the right edge."])
