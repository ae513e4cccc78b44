"""Numbers of a study: with an interval, exact, or bare."""

from typing import Any

import pytest

from nbyt.report.html.quantity import shown_brief
from nbyt.report.numbers import brief_words, has_interval, has_value, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.123456, "0.1235"),
        (-2.5, "−2.5"),
        (20021.7, "20022"),
        (2048000.0, "2.048e6"),
        (1.11e-16, "1.11e−16"),
    ],
)
def test_four_digits(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize(
    ("number", "said", "html"),
    [
        ({"value": 0.5, "low": 0.4, "high": 0.6}, "0.50 [0.40, 0.60]", "[0.40, 0.60]"),
        ({"value": 0.3127, "low": 0.3127, "high": 0.3127}, "0.3127", "exact"),
        ({"value": 0.3127}, "0.3127", "no interval"),
        ({"value": 2.0, "approximate": True}, "≈\u202f2", "≈\u202f2"),
        ({"value": 1.0, "low": None, "high": 2.0}, "1.0 [?, 2.0]", "[?, 2.0]"),
        ({"value": None, "reason": "no ends"}, "undetermined: no ends", 'title="no ends"'),
    ],
)
def test_a_number_says_what_is_known(number: dict[str, Any], said: str, html: str) -> None:
    assert brief_words(number) == said
    assert html in shown_brief(number)


def test_what_can_be_drawn() -> None:
    assert has_value({"value": 1}) and not has_value({"value": float("nan")})
    assert not has_value({}) and not has_value({"value": None})
    assert has_interval({"value": 1.0, "low": 0.0, "high": 2.0})
    assert not has_interval({"value": 1.0, "low": 1.0, "high": 1.0})
    assert not has_interval({"value": 1.0})
