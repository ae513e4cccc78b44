"""Gradients in a plane beside the one that they estimate."""

from collections.abc import Sequence

from nbyt.report.page.charts.arrows import View, plane_chart, views
from nbyt.report.page.element import Markup
from nbyt.report.page.key import key
from nbyt.report.study.charts.drawn import Drawn, remarks
from nbyt.results.values import Data


def plane_drawn(frames: Sequence[Data]) -> Drawn:
    """A chart for each frame, all of the same part of the plane if that shows them all."""
    return planes_drawn([frames])[0]


def planes_drawn(rows: Sequence[Sequence[Data]]) -> list[Drawn]:
    """The same for several figures beside each other, which then share their part too."""
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
