"""The ranking on the page: flags of a layout, and intervals cut to what a bar can show."""

from typing import Any

import pytest
from msgspec import convert
from tests.report.hostile import words_of
from tests.report.typed import number

from nbyt.report.pages.advice.ranking import interval_bar, ranking_table
from nbyt.results.advice import Answer

Data = dict[str, Any]


def test_the_advised_the_tied_the_users_and_the_harmful_are_flagged(data: Data) -> None:
    answer = data["advice"]["per_sample"]
    second, third = answer["ranking"][1:3]
    second["tied_with_best"], third["harmful_at"] = True, ["update 7"]
    words = words_of(ranking_table(convert(answer, Answer), own=second["steps"]))
    for said in ("★ advised", "= tie", "yours", "▲ harmful at update 7"):
        assert said in words
    assert "yours" not in words_of(ranking_table(convert(answer, Answer)))


@pytest.mark.parametrize(
    ("low", "value", "high", "style"),
    [
        (0.2, 0.5, 0.9, "--low:0.2000;--high:0.9000;--value:0.5000"),
        (-0.5, 0.5, 1.5, "--low:0.0000;--high:1.0000;--value:0.5000"),
    ],
)
def test_a_bar_is_cut_to_0_and_1(low: float, value: float, high: float, style: str) -> None:
    assert style in interval_bar(number(value, low, high))


def test_an_unknown_number_has_an_empty_bar() -> None:
    assert "style" not in interval_bar(number(None))
