"""Draw batch gradients with the true one, in the plane of it and a layout's mean gradient."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nbyt.report.figures.drawn import Drawn, remarks
from nbyt.report.figures.parts import figure, scatter, value_axis
from nbyt.report.html.element import Markup, for_chart
from nbyt.report.html.key import key
from nbyt.results.measurement import Cloud
from nbyt.results.study import Plane
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


def views(plane: Sequence[Cloud]) -> list[View]:
    """Return one view for each layout: a common one, unless small clouds would then be dots."""
    own = [_view([one]) for one in plane]
    widths = [one.high - one.low for one in own]
    clouds = [max(_spans(one)) for one in plane]
    if max(clouds) > _TINY * min(clouds) and max(widths) > min(widths):
        return own
    return [_view(plane)] * len(plane)


def plane_chart(one: Cloud, view: View, goal: str = "the true gradient") -> Data:
    """Draw points, mean, 95 % ellipse and the true gradient, with equal scales on both axes.

    goal: what the arrow to (1, 0) is.
    """
    up = value_axis("away from it (same unit)", range=[view.bottom, view.top])
    return figure(
        _traces(one),
        330,
        xaxis={
            "title": {"text": for_chart(f"along {goal} (its length is 1)")},
            "range": [view.low, view.high],
            "zeroline": True,
            "nticks": 7,
        },
        yaxis={**up, "scaleanchor": "x", "scaleratio": 1},
        annotations=[_end(view)],
        margin={"l": 62, "r": 18, "t": 18, "b": 52},
    )


def _view(plane: Sequence[Cloud]) -> View:
    seen = [point for one in plane for point in (*_ellipse(one), *one.points)]
    xs, ys = [0.0, *(x for x, _ in seen)], [0.0, *(y for _, y in seen)]
    low, high, bottom, top = min(xs), max(xs), min(ys), max(ys)
    if 1 - low <= _FAR * (high - low):
        high = max(high, 1.0)
    room = 0.06 * max(high - low, top - bottom, 1e-12)
    return View(low - room, high + room, bottom - room, top + room)


def _spans(one: Cloud) -> tuple[float, float]:
    edge = _ellipse(one)
    xs, ys = [x for x, _ in edge], [y for _, y in edge]
    return max(xs) - min(xs), max(ys) - min(ys)


def _ellipse(one: Cloud) -> list[tuple[float, float]]:
    """Return the edge of the region with 95 % of batch gradients, if they scatter normally."""
    (a, b), (_, d) = one.covariance
    # A root of the covariance: [[root, 0], [b / root, rest]].
    root = math.sqrt(max(a, 0.0))
    slope = b / root if root else 0.0
    rest = math.sqrt(max(d - slope**2, 0.0))
    x, y = one.mean
    angles = [2 * math.pi * k / _CORNERS for k in range(_CORNERS + 1)]
    return [
        (
            x + _REACH * root * math.cos(angle),
            y + _REACH * (slope * math.cos(angle) + rest * math.sin(angle)),
        )
        for angle in angles
    ]


def _traces(one: Cloud) -> list[Data]:
    """Draw points, ellipse, the true gradient, which the axes may cut, and the mean."""
    (xs, ys), edge = zip(*one.points, strict=True) if one.points else ((), ()), _ellipse(one)
    dots = {"size": 5, "color": "@sky:0.75", "line": {"width": 0}}
    arrow = {"color": "@ink", "width": 2.6}
    mean = {"symbol": "diamond", "size": [0, 10], "opacity": 1, "color": "@vermillion"}
    return [
        scatter(xs, ys, "batch gradients", marker=dots),
        scatter(
            [x for x, _ in edge],
            [y for _, y in edge],
            "95 % of batch gradients",
            mode="lines",
            line={"color": "@blue", "width": 1.6, "dash": "dash"},
        ),
        scatter([0, 1], [0, 0], "true gradient", mode="lines", line=arrow),
        scatter(
            [0, one.mean[0]],
            [0, one.mean[1]],
            "mean gradient",
            mode="lines+markers",
            line={"color": "@vermillion", "width": 2},
            marker={**mean, "line": {"width": 0}},
        ),
    ]


def _end(view: View) -> Data:
    """Draw the arrow's head at 1, or at the edge of the chart."""
    common = {"text": "▶", "showarrow": False, "font": {"size": 15, "color": "@ink"}, "y": 0}
    if view.whole:
        return {**common, "x": 1, "xanchor": "right"}
    text = "on to 1 ▶"
    place = {"x": 1, "xref": "paper", "xanchor": "right", "yanchor": "bottom"}
    return {**common, **place, "text": text, "font": {"size": 12, "color": "@ink"}}


def plane_drawn(frames: Sequence[Plane]) -> Drawn:
    """Draw a chart for each frame, with a common view if that shows them all."""
    return planes_drawn([frames])[0]


def planes_drawn(rows: Sequence[Sequence[Plane]]) -> list[Drawn]:
    """Draw several figures side by side, which then share their view too."""
    seen = iter(views([one.cloud for frames in rows for one in frames]))
    return [_drawn([(one, next(seen)) for one in frames]) for frames in rows]


def _drawn(pairs: Sequence[tuple[Plane, View]]) -> Drawn:
    return Drawn(
        [plane_chart(one.cloud, view, one.goal) for one, view in pairs],
        [_key(one) for one, _ in pairs],
        [_remarks(one, view) for one, view in pairs],
    )


def _key(one: Plane) -> Markup:
    return key(
        ("ink", "arrow", None, one.goal),
        ("vermillion", "diamond", "solid", "mean"),
        ("sky", "circle", None, one.points),
        ("blue", "none", "dash", "holds 95 % of them"),
    )


def _remarks(one: Plane, view: View) -> Markup | None:
    if view.whole:
        return None
    return remarks([], [f"The arrow of {one.goal} goes on beyond the right edge."])
