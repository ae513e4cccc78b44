"""The cost of an update: what was timed, or the profile that was taken."""

from typing import Any

import pytest
from msgspec import convert
from tests.report import made_up_advice
from tests.report.hostile import words_of

from nbyt.report.pages.advice.costs import cost_section
from nbyt.results import Advice

Data = dict[str, Any]


def test_every_update_that_was_timed_is_a_cross(data: Data) -> None:
    part = cost_section(convert(data, Advice))
    (figure,) = part.charts["chart-cost"]
    crosses = figure["data"][-1]
    assert len(crosses["x"]) == sum(len(seconds) for *_, seconds in data["costs"]["timed"])
    assert "10.2 ms" in words_of(part.html)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("measured", "timed on the machine named below"),
        ("parallel:16", "Nothing was timed: costs are those of parallel hardware (parallel:16)"),
        ("gpu.json", "Costs were read from gpu.json."),
    ],
)
def test_the_source_of_the_costs_is_said(data: Data, source: str, said: str) -> None:
    if source.startswith("parallel"):
        data["costs"] = None
    assert said in words_of(cost_section(convert({**data, "costs_from": source}, Advice)).html)


def test_unknown_costs_have_no_section(data: Data) -> None:
    part = cost_section(convert(made_up_advice.without_time(data), Advice))
    assert part.html == "" and part.links == {}


def test_crosses_stand_alone_where_no_layout_has_its_seconds(data: Data) -> None:
    for one in data["layouts"]:
        one["seconds"] = None
    charts = cost_section(convert(data, Advice)).charts
    assert charts["chart-cost"][0]["data"][-1]["name"] == "timed"
