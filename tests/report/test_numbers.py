"""Numbers with their intervals as text."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.typed import number

from nbyt.report.numbers import (
    both,
    brief_words,
    cell,
    fitted,
    has_interval,
    has_value,
    known,
    percent,
    power_of_ten,
    samples_words,
    share,
    short,
    words,
)
from nbyt.results.values import Number
from nbyt.stats import Estimate


@pytest.mark.parametrize(
    ("number", "power", "text"),
    [
        (number(0.3127, 0.2713, 0.3641), 0, ".31 [.27 .36]"),
        (number(0.31, 0.11, 0.64), 0, ".31 [.11 .64]"),
        (number(7.24e-3, 6.5e-3, 8.0e-3), -3, "7.2 [6.5 8.0]"),
        (number(-0.1, -0.19, 0.0, approximate=True), 0, "-.10 [-.19 .00]"),
        (number(0.02, 0.0, 2.4e11), 0, ".02 [0 2e11]"),
        (number(0.157, 0.063, 15.9), 0, ".16 [.063 16]"),
        (number(-4.2e-4, -5e-4, -3e-4), 0, "-4e-4 [-5e-4 -3e-4]"),
        (number(None, None, None, reason="none"), 0, "-"),
        (number(0.003, -0.021, 0.063), 0, ".003 [-.021 .063]"),
        (number(1.0, None, 2.0), 0, "1.0 [? 2.0]"),
        (number(0.0, 0.0, 0.0), 0, ".0 [.0 .0]"),
    ],
)
def test_cells_have_the_digits_that_the_interval_leaves(
    number: Number, power: int, text: str
) -> None:
    assert cell(number, power) == text


@pytest.mark.parametrize("form", [words, both, cell, lambda number: str(Estimate(*number.ends, 9))])
def test_no_cosine_is_printed_beyond_one(form: Callable[[Number], str]) -> None:
    """Its interval ends at 1; that of a ratio, which may be above 1, does not."""
    assert float(form(number(1.01, 0.98, 1.0)).split()[0]) == 1
    assert "-1.01" not in form(number(-1.01, -1.0, -0.98)).replace("\u2212", "-")
    assert "1.01" in form(number(1.01, 0.98, 1.06))


def test_a_column_has_one_power_of_ten() -> None:
    assert power_of_ten([number(3e-5, 0, 1), number(2e-7, 0, 1)]) == -5
    assert power_of_ten([number(0.3, 0, 1), number(None, None, None)]) == 0
    assert power_of_ten([number(0.0, 0, 0)]) == 0


def test_a_line_of_its_own_has_three_digits() -> None:
    assert both(number(0.24294, 0.235, 0.25)) == "0.243 [0.235, 0.25]"
    assert both(number(None, None, None)) == "undetermined"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (number(0.5769, 0.5455, 0.6039), "0.577 [0.545, 0.604]"),
        (number(-496.73, -499.87, -490.06), "−496.7 [−499.9, −490.1]"),
        (number(0.0, 0.0, 0.0), "0.0 [0.0, 0.0]"),
        (number(0.157, 0.063, 15.9), "0.16 [0.063, 16]"),
        (number(-0.003, -0.21, -0.0), "−0.003 [−0.21, 0.00]"),
        (number(1e-9, 0.0, 2e-9), "1e-09 [0, 2e-09]"),
        (number(2048000.0, 2e6, 3e6), "2.05e+06 [2e+06, 3e+06]"),
        (number(1.0, None, 2.0), "1.0 [?, 2.0]"),
        (number(0.31, 0.2, 0.4, approximate=True), "≈\u202f0.31 [0.20, 0.40]"),
        (number(None, -1, 1, reason="too few"), "undetermined: too few"),
        (number(float("nan"), 0, 1), "undetermined"),
    ],
)
def test_a_number_has_the_digits_that_its_interval_leaves(number: Number, text: str) -> None:
    assert words(number) == text


def test_a_number_without_an_interval_is_not_known() -> None:
    assert known(number(1.0, 0.5, 2.0))
    assert not known(number(1.0, None, 2.0))
    assert not known(number(1.0, 0.0, float("inf")))
    assert not known(None)


@pytest.mark.parametrize(
    ("value", "text"), [(0.785, "78 %"), (0.001, "< 1 %"), (0.0, "0 %"), (None, "undetermined")]
)
def test_shares(value: float | None, text: str) -> None:
    assert share(value) == text


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
    ("number", "said"),
    [
        (number(0.5, 0.4, 0.6), "0.50 [0.40, 0.60]"),
        (number(0.3127, 0.3127, 0.3127), "0.3127"),
        (Number(value=0.3127), "0.3127"),
        (Number(value=2.0, approximate=True), "≈\u202f2"),
        (number(1.0, None, 2.0), "1.0 [?, 2.0]"),
        (Number(value=None, reason="no ends"), "undetermined: no ends"),
    ],
)
def test_an_exact_number_is_its_value_alone(number: Number, said: str) -> None:
    assert brief_words(number) == said


def test_what_can_be_drawn() -> None:
    assert has_value(number(1)) and not has_value(number(float("nan")))
    assert not has_value(None) and not has_value(number(None))
    assert has_interval(number(1.0, 0.0, 2.0))
    assert not has_interval(number(1.0, 1.0, 1.0))
    assert not has_interval(Number(value=1.0))


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (number(611.4, 480.2, 770.9), "610 [480 to 770]"),
        (number(12_345, 9_876, 15_432), "12,300 [9,900 to 15,400]"),
        (number(12_345, 9_876, None), "12,300 [9,900 or more]"),
        (number(12_345, None, None), "12,300 [no interval]"),
        (number(611.4, 480.2, 770.9, approximate=True), "≈\u202f610 [480 to 770]"),
        (number(7.31, 5.2, 9.9), "7.3 [5.2, 9.9]"),
        (number(151, 0.42, 159_123), "150 [0.42 to 160,000]"),
    ],
)
def test_samples_have_no_digit_that_the_interval_denies(number: Number, said: str) -> None:
    assert samples_words(number) == said


def test_intervals_go_below_values_only_where_a_table_is_too_wide() -> None:
    narrow, wide = [[".31 [.27 .36]"] * columns for columns in (3, 9)]
    assert fitted(["a"] * 3, [narrow]) == [narrow]
    assert fitted(["a"] * 9, [wide]) == [[".31\n[.27 .36]"] * 9]


def _estimate(number: Number) -> str:
    return str(Estimate(*number.ends, 8))


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
    text = printer(number(value, low, high))
    for word in text.replace("[", " ").replace("]", " ").replace(",", "").split():
        if any(sign.isdigit() for sign in word):
            assert any(sign in "123456789" for sign in word.partition("e")[0]), text
