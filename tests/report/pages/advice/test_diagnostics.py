"""Diagnostics: without a closer look they say so, and nothing unclear is framed as the best."""

from typing import Any

from msgspec import convert
from tests.report.hostile import words_of

from nbyt.report.pages.advice.diagnostics import closer_sections
from nbyt.results import Advice

Data = dict[str, Any]


def test_stages_without_a_closer_look_say_so(data: Data) -> None:
    for stage in data["stages"]:
        stage["closer"] = None
    part = closer_sections(convert(data, Advice))
    assert "No stage was looked at closely" in words_of(part.html) and not part.charts


def test_only_a_clear_best_is_framed(data: Data) -> None:
    assert closer_sections(convert(data, Advice)).html.count(" top") == 1
    for stage in data["stages"]:
        for one in stage["closer"]["layouts"] if stage["closer"] else ():
            one["actor"]["alignment"]["low"] = -0.1
    assert closer_sections(convert(data, Advice)).html.count(" top") == 0
