"""Tables of colours."""

import re
from typing import Any

import pytest
from tests.report.figures.drawing import chart_of

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part


@pytest.mark.parametrize(
    ("values", "ends", "bounds", "colours"),
    [
        ([[0.0, 2.0]], (None, None), (0, 2), 3),
        ([[-1.0, 2.0]], (None, None), (-2, 2), 5),
        ([[0.5, 0.5]], (-1.0, 1.0), (-1, 1), 5),
        ([[0.5, None]], (0.0, 1.0), (0, 1), 3),
    ],
)
def test_colours_follow_the_ends(values: Any, ends: Any, bounds: Any, colours: int) -> None:
    figure = figures.heatmap("", values, "scale", low=ends[0], high=ends[1])
    trace = chart_of(figure)["data"][0]
    assert (trace["zmin"], trace["zmax"]) == bounds
    assert len(trace["colorscale"]) == colours


def test_values_that_are_written_are_a_table() -> None:
    figure = figures.heatmap(
        "", [[0.25, None], [-0.5, 1.0]], "s", rows=["a", "b"], columns=["c", "d"], written=True
    )
    part = figures_part([figure], "f")
    assert part.charts == {}
    cells = re.findall(r'<td class="(positive|negative|unknown)"[^>]*>([^<]*)<', part.html)
    assert cells == [
        ("positive", "0.25"),
        ("unknown", ""),
        ("negative", "−0.50"),
        ("positive", "1.00"),
    ]
