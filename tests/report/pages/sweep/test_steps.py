"""Performance against T: charts have the numbers."""

from typing import Any

import pytest
from tests.report.hostile import charts_of
from tests.report.pages.sweep.reading import rendered, six, trace

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_charts_have_the_numbers(data: Data) -> None:
    charts = charts_of(rendered(data))
    known = [one for one in data["layouts"] if one["seeds"]["finished"]]
    assert len(known) == len(data["layouts"]) - 1
    for kind in ("per_sample", "per_second"):
        chart = charts[f"chart-steps-{kind}"][0]
        line = trace(chart, "IQM")
        assert line["x"] == [one["steps"] for one in known]
        assert line["y"] == six([one[kind]["over_training"]["value"] for one in known])
        dots = trace(chart, "a seed")
        assert dots["y"] == six([score for one in known for score in one[kind]["scores"]])
        assert trace(chart, "best")["x"] == [data["answer"][kind]["steps"]]
        assert trace(chart, "advised")["x"] == [data["advice"][kind]["steps"]]
