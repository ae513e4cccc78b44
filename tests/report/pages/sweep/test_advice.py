"""The advice compared with the trainings: charts have the numbers."""

from typing import Any

import pytest
from tests.report.hostile import charts_of
from tests.report.pages.sweep.reading import rendered, six, trace

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_points_are_what_was_predicted(data: Data) -> None:
    charts = charts_of(rendered(data))
    for kind in ("per_sample", "per_second"):
        advice = charts[f"chart-advice-{kind}"][0]
        compared = data["advice"][kind]
        for layout, foretold in list(zip(data["layouts"], compared["foretold"], strict=True))[1:]:
            point = trace(advice, f"{layout['envs']}x{layout['steps']}")
            assert point["x"] == six([foretold["value"]])
            assert point["y"] == six([layout[kind]["over_training"]["value"]])
        assert not [one for one in advice["data"] if one.get("name") == "64x1"]  # not finished


def test_an_answer_that_nobody_gave_has_no_chart(data: Data) -> None:
    data["advice"]["per_second"] = None
    charts = charts_of(rendered(data))
    assert "chart-advice-per_sample" in charts and "chart-advice-per_second" not in charts
