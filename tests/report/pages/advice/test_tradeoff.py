"""The chart of the factors: what is drawn, and what is not."""

from typing import Any

import pytest
from msgspec import convert
from tests.report.hostile import charts_of, scripts_of, words_of
from tests.report.typed import render

from nbyt.report.pages.advice.tradeoff import advised, start_of
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


def test_the_page_opens_at_the_stage_that_was_looked_at(data: Data) -> None:
    closer = [stage["closer"] is not None for stage in data["stages"]]
    assert start_of(convert(data, Advice)) == closer.index(True)
    for stage in data["stages"]:
        stage["closer"] = None
    assert start_of(convert(data, Advice)) == len(data["stages"]) // 2


def test_both_advised_layouts_are_marked(data: Data) -> None:
    assert [word for word, _ in advised(convert(data, Advice))] == ["for time", "for samples"]
    data["advice"]["samples"] |= {"envs": 64, "steps": 32}
    assert [word for word, _ in advised(convert(data, Advice))] == ["for time and samples"]
