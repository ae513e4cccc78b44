"""Laws of combining: what one part knows exactly does not widen the other."""

import numpy as np
import pytest

from nbyt.stats import Estimate
from nbyt.stats.estimate import added, divided, mapped, undetermined

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
