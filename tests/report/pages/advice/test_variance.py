"""The terms of the variance: long intervals do not hide the bars."""

from typing import Any

import pytest
from tests.report.hostile import charts_of, words_of
from tests.report.typed import render

Data = dict[str, Any]
NOTHING = {"value": None, "low": None, "high": None}


@pytest.mark.usefixtures("light")
def test_endless_intervals_leave_the_bars_visible(data: Data) -> None:
    stage = data["stages"][0]
    values = [one["actor"]["variance"]["value"] for one in stage["layouts"]]
    stage["layouts"][0]["actor"]["variance"]["high"] = 1000 * max(values)
    html = render(data)
    chart = charts_of(html)["chart-terms-actor"][0]
    bars = chart["data"][0]["y"]
    assert chart["layout"]["yaxis"]["range"][1] < 4 * max(bars)
    assert "Intervals of the actor go beyond the top" in words_of(html)
