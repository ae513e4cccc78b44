"""Numbers and layouts as HTML."""

import pytest
from tests.report.typed import number

from nbyt.layout import Layout
from nbyt.report.html.quantity import big_layout, reasons_of, shown, shown_brief
from nbyt.results.values import Number


def test_the_reason_is_beside_what_is_undetermined() -> None:
    assert 'title="a &lt; b"' in shown(number(None, reason="a < b"))


@pytest.mark.parametrize(
    ("number", "html"),
    [
        (number(0.5, 0.4, 0.6), "[0.40, 0.60]"),
        (number(0.3127, 0.3127, 0.3127), "exact"),
        (Number(value=0.3127), "no interval"),
        (Number(value=2.0, approximate=True), "≈\u202f2"),
        (number(1.0, None, 2.0), "[?, 2.0]"),
        (Number(value=None, reason="no ends"), 'title="no ends"'),
    ],
)
def test_a_number_says_what_is_known(number: Number, html: str) -> None:
    assert html in shown_brief(number)


def test_reasons_are_said_once_for_all_places() -> None:
    nothing = number(None, reason="too few")
    html = reasons_of([("worth", 8, nothing), ("worth", 16, nothing)])
    assert html is not None and "worth at T = 8, 16: too few" in html
    assert reasons_of([("worth", 8, number(1.0, 0.5, 2.0))]) is None


def test_one_env_and_one_step_are_singular() -> None:
    assert "<small>env</small>" in big_layout(Layout(1, 2))
    assert "<small>steps</small>" in big_layout(Layout(1, 2))
