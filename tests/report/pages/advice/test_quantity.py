"""Numbers with intervals on the page."""

from typing import Any

import pytest

from nbyt.report.figures.draw_plane import views
from nbyt.report.html.element import Markup, embedded, escaped_lines, for_chart, tag
from nbyt.report.html.quantity import shown
from nbyt.report.numbers import known, share, words


def _number(value: Any, low: Any, high: Any, **more: Any) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, **more}


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (_number(0.5769, 0.5455, 0.6039), "0.577 [0.545, 0.604]"),
        (_number(-496.73, -499.87, -490.06), "−496.7 [−499.9, −490.1]"),
        (_number(0.0, 0.0, 0.0), "0.0 [0.0, 0.0]"),
        (_number(0.157, 0.063, 15.9), "0.16 [0.063, 16]"),
        (_number(-0.003, -0.21, -0.0), "−0.003 [−0.21, 0.00]"),
        (_number(1e-9, 0.0, 2e-9), "1e-09 [0, 2e-09]"),
        (_number(2048000.0, 2e6, 3e6), "2.05e+06 [2e+06, 3e+06]"),
        (_number(1.0, None, 2.0), "1.0 [?, 2.0]"),
        (_number(0.31, 0.2, 0.4, approximate=True), "≈\u202f0.31 [0.20, 0.40]"),
        (_number(None, -1, 1, reason="too few"), "undetermined: too few"),
        (_number(float("nan"), 0, 1), "undetermined"),
    ],
)
def test_a_number_has_the_digits_that_its_interval_leaves(
    number: dict[str, Any], text: str
) -> None:
    assert words(number) == text


def test_a_number_without_an_interval_is_not_known() -> None:
    assert known(_number(1.0, 0.5, 2.0))
    assert not known(_number(1.0, None, 2.0))
    assert not known(_number(1.0, 0.0, float("inf")))
    assert not known(None)


def test_the_reason_is_beside_what_is_undetermined() -> None:
    assert 'title="a &lt; b"' in shown(_number(None, None, None, reason="a < b"))


@pytest.mark.parametrize(
    ("value", "text"), [(0.785, "78 %"), (0.001, "< 1 %"), (0.0, "0 %"), (None, "undetermined")]
)
def test_shares(value: float | None, text: str) -> None:
    assert share(value) == text


def test_text_is_escaped_unless_it_is_markup() -> None:
    assert tag("p", "<b>", Markup("<i></i>"), title='"') == (
        '<p title="&quot;">&lt;b&gt;<i></i></p>'
    )
    assert escaped_lines("a<\r\n\x1b[31mb\n") == "a&lt;\nb\n"
    assert for_chart('<a href="x">') == '&lt;a href="x"&gt;'
    assert embedded({"a": ["</script>", float("nan"), 1 / 3]}) == (
        '{"a":["\\u003c/script\\u003e",null,0.333333]}'
    )


def test_clouds_of_very_different_size_have_scales_of_their_own() -> None:
    small, large = (
        {"mean": [0.1, 0.0], "covariance": [[s, 0.0], [0.0, s]], "points": [[0.1, 0.0]]}
        for s in (1e-6, 1.0)
    )
    assert len(set(views([small, large]))) == 2
    assert len(set(views([large, large]))) == 1
    assert [view.whole for view in views([small, large])] == [False, True]
