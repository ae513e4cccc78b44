"""The advice compared with the trainings: charts have the numbers."""

from typing import Any

import pytest
from tests.report.hostile import charts_of
from tests.report.pages.sweep.reading import rendered, six, trace

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_points_are_what_was_predicted(data: Data) -> None:
    charts = charts_of(rendered(data))
    advice = charts["chart-advice-per_sample"][0]
    foretold = data["advice"]["per_sample"]["foretold"]
    assert trace(advice, "8x8")["x"] == six([foretold[3]["value"]])
    raced = charts["chart-advice-per_second"][0]
    expected = data["advice"]["per_second"]["foretold"]
    assert trace(raced, "8x8")["x"] == six([expected[3]["value"]])
