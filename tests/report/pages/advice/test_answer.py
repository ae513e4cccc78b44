"""The answer on the page: one verdict, the other goal and the user's layout beside it."""

from typing import Any

import pytest
from msgspec import convert
from tests.report import made_up_advice
from tests.report.hostile import words_of

from nbyt.report.pages.advice.answer import answer_section, chance
from nbyt.results import Advice

Data = dict[str, Any]


def section(data: Data) -> str:
    """The section as HTML."""
    return answer_section(convert(data, Advice)).html


def test_there_is_one_verdict_with_both_goals_and_the_users_layout(data: Data) -> None:
    html = section(data)
    words = words_of(html)
    said = [one["sentence"] for one in (data["advice"]["samples"], data["current"])]
    assert all(sentence in words for sentence in said)
    # After a race the numbers of the verdict say what its sentence says.
    assert data["advice"]["time"]["sentence"] not in words
    assert html.count('class="answer"') == 1 and html.count("<article") == 3
    assert html.index(">64<") < html.index(">256<") < html.index(">16<")
    assert "probability to be within 5 % of the best 89 %" in words
    assert "A warning about the whole." in words


def test_a_probability_that_is_not_calibrated_is_not_shown(data: Data) -> None:
    words = words_of(section(made_up_advice.without_stages(data)))
    assert "probability to be" not in words and "2.4 % [0.0, 8.0]" in words
    assert "safe layouts" not in words and "safe layouts" in words_of(section(data))


def test_a_probability_is_never_certain() -> None:
    assert [chance(p) for p in (0.0, 0.004, 0.891, 1.0)] == ["< 1 %", "< 1 %", "89 %", "> 99 %"]


def test_a_race_that_taught_nothing_is_said_loudly(data: Data, unlearnt: Data) -> None:
    html = section(unlearnt)
    assert "Nothing was learnt No layout did clearly better" in words_of(html)
    assert 'class="answer open"' in html and "answer open" not in section(data)
    assert html.index("Nothing was learnt") < html.index('class="verdict"')


def test_without_costs_nothing_is_said_about_time(data: Data) -> None:
    found = made_up_advice.without_time(data)
    html = section(found)
    assert "nothing is said about time" in words_of(html)
    assert html.index("For the fewest samples") < html.index("Fastest")
    assert "Your layout" not in words_of(html)


@pytest.mark.parametrize("key", ["loss", "speedup"])
def test_what_is_unknown_of_the_users_layout_is_left_out(data: Data, key: str) -> None:
    rows = section(data).count("<dt>")
    data["current"][key] = None
    assert section(data).count("<dt>") == rows - 1
