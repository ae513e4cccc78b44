"""Numbers in narrow columns."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbyt.report.numbers import both, cell, percent, power_of_ten, samples_words, words
from nbyt.stats import Estimate

Number = dict[str, Any]


def _number(value: float | None, low: float | None, high: float | None, **more: object) -> dict:
    return {"value": value, "low": low, "high": high, **more}


@pytest.mark.parametrize(
    ("number", "power", "text"),
    [
        (_number(0.3127, 0.2713, 0.3641), 0, ".31 [.27 .36]"),
        (_number(0.31, 0.11, 0.64), 0, ".31 [.11 .64]"),
        (_number(7.24e-3, 6.5e-3, 8.0e-3), -3, "7.2 [6.5 8.0]"),
        (_number(-0.1, -0.19, 0.0, approximate=True), 0, "-.10 [-.19 .00]"),
        (_number(0.02, 0.0, 2.4e11), 0, ".02 [0 2e11]"),
        (_number(0.157, 0.063, 15.9), 0, ".16 [.063 16]"),
        (_number(-4.2e-4, -5e-4, -3e-4), 0, "-4e-4 [-5e-4 -3e-4]"),
        (_number(None, None, None, reason="none"), 0, "-"),
        (_number(0.003, -0.021, 0.063), 0, ".003 [-.021 .063]"),
        (_number(1.0, None, 2.0), 0, "1.0 [? 2.0]"),
        (_number(0.0, 0.0, 0.0), 0, ".0 [.0 .0]"),
    ],
)
def test_cells_have_the_digits_that_the_interval_leaves(
    number: dict, power: int, text: str
) -> None:
    assert cell(number, power) == text


def test_a_column_has_one_power_of_ten() -> None:
    assert power_of_ten([_number(3e-5, 0, 1), _number(2e-7, 0, 1)]) == -5
    assert power_of_ten([_number(0.3, 0, 1), _number(None, None, None)]) == 0
    assert power_of_ten([_number(0.0, 0, 0)]) == 0


def test_a_line_of_its_own_has_three_digits() -> None:
    assert both(_number(0.24294, 0.235, 0.25)) == "0.243 [0.235, 0.25]"
    assert both(_number(None, None, None)) == "undetermined"


def _estimate(number: Number) -> str:
    return str(Estimate(number["value"], number["low"], number["high"], 8))


# Each prints a value and its interval with decimals that the width of the interval decides.
FORMATTERS: dict[str, Callable[[Number], str]] = {
    "an Estimate": _estimate,
    "cells of a terminal": cell,
    "numbers of a page": words,
    "counts of samples": lambda number: samples_words(number, 1000.0),
    "shares in sentences": percent,
}


@pytest.mark.parametrize("printer", FORMATTERS.values(), ids=FORMATTERS)
@given(st.floats(1e-6, 1e3), st.floats(0, 6), st.floats(0, 6), st.sampled_from([1, -1]))
def test_what_is_not_zero_never_prints_as_zero(printer, size, below, above, sign) -> None:
    """Ends that are powers of ten away, as where a logarithm has the error."""
    value, *ends = (sign * size * factor for factor in (1, 10**-below, 10**above))
    low, high = sorted(ends)
    text = printer({"value": value, "low": low, "high": high})
    for word in text.replace("[", " ").replace("]", " ").replace(",", "").split():
        if any(sign.isdigit() for sign in word):
            assert any(sign in "123456789" for sign in word.partition("e")[0]), text
