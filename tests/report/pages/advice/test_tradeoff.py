"""The chart of the factors: what is drawn, and what is not."""

from typing import Any

import pytest
from msgspec import convert
from tests.report.hostile import charts_of, scripts_of, words_of
from tests.report.typed import render

from nbyt.report.pages.advice.tradeoff import start_of
from nbyt.results import Advice

Data = dict[str, Any]
NOTHING = {"value": None, "low": None, "high": None}


@pytest.mark.usefixtures("light")
def test_what_is_undetermined_is_not_drawn_and_says_why(data: Data) -> None:
    layout = data["stages"][0]["layouts"][3]
    for name in layout["actor"]:
        layout["actor"][name] = {**NOTHING, "reason": "the pool fell silent"}
    layout["actor"]["alignment"]["low"] = -1.0
    layout["critic"]["variance"] = {"value": 1.0, "low": None, "high": None}
    closer = next(stage["closer"] for stage in data["stages"] if stage["closer"])
    closer["layouts"][0]["actor"]["alignment"] = {**NOTHING, "reason": "the map has a hole"}
    html = render(data)
    first = charts_of(html)["chart-factors"][0]["data"]
    lines = [trace for trace in first if trace.get("mode") == "lines+markers"]
    assert len(lines) == 3 and all(trace["y"][3] is None for trace in lines)
    assert f"alignment at T = {layout['steps']}: the pool fell silent" in words_of(html)
    assert 'class="unknown"' in html and 'title="the map has a hole"' in html
    assert "NaN" not in html and "Infinity" not in scripts_of(html)[0][1]


@pytest.mark.parametrize("objective", ["critic", "total"])
@pytest.mark.usefixtures("light")
def test_the_objective_decides_what_is_drawn(data: Data, objective: str) -> None:
    actor = charts_of(render(data))
    html = render({**data, "objective": objective})
    own = charts_of(html)
    assert own["chart-factors"] != actor["chart-factors"]
    assert own["chart-terms-actor"] == actor["chart-terms-actor"]
    assert f"The picture is of the actor; the advice is about the {objective}." in words_of(html)


def test_the_page_opens_at_the_heaviest_stage_that_is_clear(data: Data) -> None:
    for place, stage in enumerate(data["stages"]):
        stage |= {"weight": place / 10, "clear": place != len(data["stages"]) - 1}
    assert start_of(convert(data, Advice)) == len(data["stages"]) - 2
    for stage in data["stages"]:
        stage["clear"] = False
    assert start_of(convert(data, Advice)) == len(data["stages"]) - 1
