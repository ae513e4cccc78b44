"""What was assumed: settings, stages and how to get the advice again."""

from typing import Any

from msgspec import convert
from tests.report.hostile import words_of

from nbyt.report.pages.advice.assumptions import assumption_sections
from nbyt.results import Advice

Data = dict[str, Any]


def test_stages_weights_and_the_command_are_named(data: Data) -> None:
    words = words_of(assumption_sections(convert(data, Advice)).html)
    for stage in data["stages"]:
        assert stage["name"] in words
    assert data["reproduce"] in words and data["env"] in words


def test_stages_that_were_given_have_no_training(data: Data) -> None:
    words = words_of(assumption_sections(convert({**data, "training": []}, Advice)).html)
    assert "stages that were given" in words
