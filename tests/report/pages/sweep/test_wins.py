"""Probability of improvement: the best layout is compared with first."""

from typing import Any

import pytest
from tests.report.hostile import charts_of
from tests.report.pages.sweep.reading import rendered, six, trace

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_all_are_held_against_the_best_first(data: Data) -> None:
    first = charts_of(rendered(data))["chart-wins"][0]
    place = next(k for k, one in enumerate(data["layouts"]) if one["steps"] == 8)
    for row, layout in enumerate(data["layouts"]):
        if layout["steps"] not in (8, 1):
            number = data["wins"]["per_sample"][row][place]
            point = trace(first, f"{layout['envs']}x{layout['steps']}")
            assert point["y"] == six([100 * number["value"]])
    assert len(first["data"]) == len(data["layouts"]) - 2
