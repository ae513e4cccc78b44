"""Numbers and layouts as HTML."""

from typing import Any

import pytest

from nbyt.report.html.quantity import big_layout, reasons_of, shown, shown_brief

NOTHING = {"value": None, "low": None, "high": None}


def test_the_reason_is_beside_what_is_undetermined() -> None:
    assert 'title="a &lt; b"' in shown({**NOTHING, "reason": "a < b"})


@pytest.mark.parametrize(
    ("number", "html"),
    [
        ({"value": 0.5, "low": 0.4, "high": 0.6}, "[0.40, 0.60]"),
        ({"value": 0.3127, "low": 0.3127, "high": 0.3127}, "exact"),
        ({"value": 0.3127}, "no interval"),
        ({"value": 2.0, "approximate": True}, "≈\u202f2"),
        ({"value": 1.0, "low": None, "high": 2.0}, "[?, 2.0]"),
        ({"value": None, "reason": "no ends"}, 'title="no ends"'),
    ],
)
def test_a_number_says_what_is_known(number: dict[str, Any], html: str) -> None:
    assert html in shown_brief(number)


def test_reasons_are_said_once_for_all_places() -> None:
    number = {**NOTHING, "reason": "too few"}
    html = reasons_of([("worth", 8, number), ("worth", 16, number)])
    assert html is not None and "worth at T = 8, 16: too few" in html
    assert reasons_of([("worth", 8, {"value": 1.0, "low": 0.5, "high": 2.0})]) is None


def test_one_env_and_one_step_are_singular() -> None:
    assert "<small>env</small>" in big_layout({"envs": 1, "steps": 2})
    assert "<small>steps</small>" in big_layout({"envs": 1, "steps": 2})
