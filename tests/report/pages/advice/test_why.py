"""Why: reasons of both answers once each, and stages only where some were probed."""

from typing import Any

from msgspec import convert
from tests.report import made_up_advice
from tests.report.hostile import words_of

from nbyt.report.pages.advice.why import why_sections
from nbyt.results import Advice

Data = dict[str, Any]


def test_every_reason_is_said_once(data: Data) -> None:
    words = words_of(why_sections(convert(data, Advice)).html)
    for answer in data["advice"].values():
        for reason in answer["reasons"]:
            assert words.count(reason) == 1


def test_stages_are_shown_where_there_are_some(data: Data) -> None:
    with_stages = why_sections(convert(data, Advice))
    assert "chart-factors" in with_stages.charts and "tradeoff" in with_stages.links
    without = why_sections(convert(made_up_advice.without_stages(data), Advice))
    assert not without.charts and "No policy was probed" in words_of(without.html)


def test_no_reasons_are_no_error(data: Data) -> None:
    for answer in data["advice"].values():
        answer["reasons"] = []
    assert "No reasons were found." in words_of(why_sections(convert(data, Advice)).html)


def test_the_race_is_named_only_where_it_decides(data: Data) -> None:
    assert "The race decides" in words_of(why_sections(convert(data, Advice)).html)
    data["advice"]["time"]["rests_on"] = "prior"
    assert "The race decides" not in words_of(why_sections(convert(data, Advice)).html)
