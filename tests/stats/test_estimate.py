"""Laws of Estimate: its interval covers as often as it says, and print invents no digit."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nbyt.stats import Estimate, mean
from nbyt.stats.estimate import added, divided, mapped, rounded, undetermined

SETS = 2000
LAW = scipy_stats.binom(SETS, 0.95)
BAND = (LAW.ppf(0.0005), LAW.ppf(0.9995))


def covered(replicates: int, widening: float) -> int:
    """How many of 2,000 normal data sets have the true mean in their interval."""
    generator = np.random.default_rng(replicates)
    hits = 0
    for values in generator.normal(3.0, 2.0, (SETS, replicates)):
        found = mean(values)
        half = (found.high - found.low) / 2 * widening
        hits += found.value - half <= 3.0 <= found.value + half
    return hits


@pytest.mark.parametrize("replicates", [8, 16, 32, 64])
def test_95_percent_intervals_cover_95_percent_of_normal_data_sets(replicates) -> None:
    low, high = BAND
    assert low <= covered(replicates, 1.0) <= high


@pytest.mark.parametrize("replicates", [8, 16, 32, 64])
@pytest.mark.parametrize("widening", [0.8, 1.25])
def test_the_gate_would_notice_intervals_of_the_wrong_width(replicates, widening) -> None:
    low, high = BAND
    assert not low <= covered(replicates, widening) <= high


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_the_interval_is_scipys_t_interval(values) -> None:
    found = mean(np.array(values))
    spread = np.std(values, ddof=1) / math.sqrt(len(values))
    if spread == 0:
        assert found.low == found.value == found.high
        return
    low, high = scipy_stats.t(len(values) - 1).interval(0.95)
    scale = abs(found.value) + spread
    np.testing.assert_allclose(found.value, np.mean(values), atol=1e-12 * scale)
    np.testing.assert_allclose(found.low, found.value + low * spread, atol=1e-9 * scale)
    np.testing.assert_allclose(found.high, found.value + high * spread, atol=1e-9 * scale)
    assert found.replicates == len(values)


def test_one_value_has_no_interval() -> None:
    found = mean(np.array([2.5]))
    assert (found.value, found.low, found.high, found.replicates) == (2.5, -math.inf, math.inf, 1)
    assert str(found) == "2.5 [-inf, inf]"


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.3127846, 0.27, 0.36, "0.313 [0.270, 0.360]"),
        (12.3456, 11.0, 13.7, "12.3 [11.0, 13.7]"),
        (1234.56, 1200.0, 1270.0, "1235 [1200, 1270]"),
        (1234.56, 500.0, 1970.0, "1235 [500, 1970]"),
        (-0.5, -0.51, -0.49, "-0.500 [-0.510, -0.490]"),
        (0.0, 0.0, 0.0, "0.0 [0.0, 0.0]"),
        (0.157, 0.063, 15.9, "0.16 [0.063, 16]"),
    ],
)
def test_known_numbers_print_as_written_here(value, low, high, text) -> None:
    assert str(Estimate(value, low, high, 8)) == text


@given(st.floats(-1e5, 1e5), st.floats(1e-8, 1e5))
def test_print_shows_two_digits_of_the_width_and_rounds_by_no_more(value, half) -> None:
    estimate = Estimate(value, value - half, value + half, 8)
    width = estimate.high - estimate.low
    shown = re.fullmatch(r"(\S+) \[(\S+), (\S+)\]", str(estimate)).groups()
    unit = max(10.0 ** -len(text.partition(".")[2]) for text in shown)
    # Two digits of the width; only whole numbers may be finer, because nothing coarser exists.
    assert unit <= max(width / 10, 1.0) * 1.0001
    assert unit == 1.0 or unit >= width / 100.0001
    for text, number in zip(shown, (value, estimate.low, estimate.high), strict=True):
        # What is smaller than that has two digits of its own, down to the rounding of floats.
        error = unit / 2 if abs(number) >= unit else abs(number) / 20 + 1e-12 * unit
        assert abs(float(text) - number) <= error * 1.0001


def test_json_has_the_three_promised_fields() -> None:
    assert mean(np.array([1.0, 3.0])).as_dict().keys() == {"value", "low", "high"}


def test_what_is_missing_is_null_with_its_reason() -> None:
    nothing = undetermined("the gradient is zero", 64)
    assert nothing.as_dict() == {
        "value": None,
        "low": None,
        "high": None,
        "reason": "the gradient is zero",
    }
    assert str(nothing) == "undetermined (the gradient is zero)"


def test_infinite_bounds_are_null_in_json_and_never_without_a_reason() -> None:
    found = mean(np.array([2.5])).as_dict()
    assert (found["value"], found["low"], found["high"]) == (2.5, None, None)
    assert found["reason"] == "one value alone has no interval"
    assert Estimate(1.0, 0.5, math.inf, 8).as_dict()["reason"] == "the interval is unbounded"


def test_approximate_intervals_are_marked() -> None:
    rough = Estimate(0.3127846, 0.27, 0.36, 16, approximate=True)
    assert str(rough) == "~0.313 [0.270, 0.360]"
    assert rough.as_dict()["approximate"] is True
    assert "approximate" not in Estimate(1.0, 0.0, 2.0, 64).as_dict()


def test_a_value_without_bounds_says_why() -> None:
    assert str(Estimate(1.25, None, None, 3, "too few")) == "1.25 (no interval: too few)"


LOPSIDED = Estimate(2.0, 1.0, 5.0, 64)


def test_an_exact_part_shifts_a_sum_and_scales_a_ratio() -> None:
    exact = Estimate(4.0, 4.0, 4.0, 64)
    assert added(LOPSIDED, exact, 0.3) == Estimate(6.0, 5.0, 9.0, 64)
    assert divided(LOPSIDED, exact, 0.3) == Estimate(0.5, 0.25, 1.25, 64)
    assert divided(exact, LOPSIDED, -0.3) == Estimate(2.0, 0.8, 4.0, 64)
    assert divided(Estimate(-4.0, -4.0, -4.0, 64), LOPSIDED, 0.0) == Estimate(-2.0, -4.0, -0.8, 64)


def test_distances_to_the_bounds_add_in_squares() -> None:
    both = added(Estimate(1.0, -2.0, 1.0, 64), Estimate(2.0, -2.0, 14.0, 50, approximate=True), 0.0)
    assert (both.value, both.low, both.high) == (3.0, -2.0, 15.0)
    assert both.approximate and both.replicates == 50


def test_a_function_keeps_the_bounds_in_order_and_what_is_unknown_unknown() -> None:
    assert mapped(LOPSIDED, lambda v: 1 - v) == Estimate(-1.0, -4.0, 0.0, 64)
    nothing = undetermined("no data", 8)
    assert mapped(nothing, np.sqrt) == nothing
    with pytest.raises(ValueError, match="no data"):
        added(nothing, LOPSIDED, 0.0)


def test_errors_that_go_together_add_in_a_sum_and_cancel_in_a_ratio() -> None:
    even = Estimate(10.0, 9.0, 11.0, 64)
    assert added(even, even, 1.0) == Estimate(20.0, 18.0, 22.0, 64)
    assert added(even, even, -1.0) == Estimate(20.0, 20.0, 20.0, 64)
    together, opposed = divided(even, even, 1.0), divided(even, even, -1.0)
    assert together.high - together.low < 0.03
    assert opposed.high - opposed.low > 0.3


@pytest.mark.parametrize(
    ("x", "decimals", "text"),
    [
        (0.157, 0, "0.16"),
        (15.9, 0, "16"),
        (0.0, 2, "0.00"),
        (-0.0, 2, "0.00"),
        (-2e-39, 2, "0.00"),
        (-0.004, 2, "-0.004"),
        (1.2e-7, 2, "1.2e-07"),
    ],
)
def test_known_digits(x: float, decimals: int, text: str) -> None:
    assert rounded(x, decimals) == text
