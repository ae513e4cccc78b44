"""Law: the gate lets exact 95 % intervals through, and neither narrower nor wider ones."""

import math

import numpy as np
import pytest
from benchmarks.calibration.gate import Interval, judge, limits, passes

POOLS = 1000
Z = 1.959964


def _normal(scale: float = 1.0) -> list[Interval]:
    """Intervals of a normal estimate of 3 with error 1, `scale` times as wide as they should be."""
    values = 3 + np.random.default_rng(7).normal(size=POOLS)
    return [Interval(v, v - scale * Z, v + scale * Z) for v in values]


def test_limits_are_those_of_the_promise() -> None:
    assert limits(POOLS) == (926, 971)


def test_exact_intervals_pass_and_scaled_ones_do_not() -> None:
    found = judge(_normal(), 3.0, "bias_sq")
    assert found["passes"]
    assert found["narrow"]["rejected"]
    assert found["wide"]["rejected"]
    assert found["narrow"]["hits"] < found["hits"] < found["wide"]["hits"]


@pytest.mark.parametrize("scale", [0.8, 1.25])
def test_wrong_widths_are_rejected(scale: float) -> None:
    assert not judge(_normal(scale), 3.0, "bias_sq")["passes"]


def test_exact_intervals_on_a_log_scale_are_scaled_there() -> None:
    ones = [
        Interval(*(math.exp(x or 0) for x in (one.value, one.low, one.high))) for one in _normal()
    ]
    plain, log = judge(_normal(), 3.0, "bias_sq"), judge(ones, math.exp(3.0), "variance")
    assert [log[k] for k in ("hits", "narrow", "wide")] == [
        plain[k] for k in ("hits", "narrow", "wide")
    ]


def test_what_is_undetermined_covers_and_is_counted_apart() -> None:
    nothing = [Interval(None, None, None), Interval(None, -1.0, 1.0)]
    found = judge([*nothing, Interval(0.5, 0.2, 1.0), Interval(0.5, 0.6, 0.9)], 0.5, "cosine")
    assert (found["determined"], found["hits"], found["undetermined"]) == (2, 1, 0.5)
    assert found["coverage"] == 0.5
    assert found["overall"] == 0.75


def test_an_end_that_was_cut_stays() -> None:
    narrow = Interval(0.5, 0.1, 1.0).scaled(0.8, "cosine")
    assert narrow.low == pytest.approx(0.18)
    assert narrow.high == 1.0
    assert Interval(2.0, 1.0, math.inf).scaled(0.8, "rho_ratio").high == math.inf
    assert Interval(0.5, 0.0, 0.9).scaled(0.8, "noise_factor").low == 0.0
    assert Interval(-0.5, -1.0, 1.0).scaled(2.0, "covariance").low == -1.5


def test_without_a_value_the_middle_is_the_centre() -> None:
    wide = Interval(None, -0.2, 0.2).scaled(1.25, "cosine")
    assert (wide.low, wide.high) == pytest.approx((-0.25, 0.25))


@pytest.mark.parametrize(
    ("hits", "lets_through"), [(925, False), (926, True), (971, True), (972, False)]
)
def test_the_gate_is_two_sided(hits: int, lets_through: bool) -> None:
    assert passes(hits, POOLS) is lets_through
