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


def test_a_phase_that_no_interval_shows_is_not_claimed(data: Data) -> None:
    words = words_of(closer_sections(convert(data, Advice)).html)
    assert "staggered starts do" in words
    for stage in data["stages"]:
        for one in stage["closer"]["layouts"] if stage["closer"] else ():
            for name in ("actor", "critic", "total"):
                if one[name].get("phase"):
                    one[name]["phase"]["low"] = -1.0
    words = words_of(closer_sections(convert(data, Advice)).html)
    assert "staggered starts do" not in words and "No interval is above zero" in words
