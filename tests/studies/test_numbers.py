"""Numbers of a study: ratios over runs, with intervals that cover."""

import numpy as np
import pytest

from nbyt_studies.numbers import (
    distance,
    exact_number,
    mean_of,
    ratio_of_means,
    shortened,
    spread_of,
    spread_ratio,
    typical_ratio,
)


def test_exact_and_short_ones() -> None:
    assert exact_number(2) == {"value": 2.0, "low": 2.0, "high": 2.0}
    assert shortened([1.23456, float("nan"), None, 0.0]) == [1.235, None, None, 0.0]
    assert mean_of([1.0, 3.0]).value == 2.0


def test_a_distance_has_two_sides() -> None:
    def ends(low: float, high: float) -> list[float]:
        found = distance({"value": (low + high) / 2, "low": low, "high": high}, 1.0)
        return [found["low"], found["value"], found["high"]]

    assert ends(2, 4) == [1, 2, 3] and ends(-2, 0) == [1, 2, 3]
    assert ends(0.5, 2.5) == [0, 0.5, 1.5]
    unknown = {"value": 1.0, "low": None, "high": 2.0}
    assert distance(unknown, 1.0) == unknown


def test_ratios_cover_the_truth() -> None:
    generator = np.random.default_rng(0)
    inside = np.zeros(4)
    for _ in range(400):
        over, under = 2 * np.exp(0.3 * generator.normal(size=(2, 6))) * [[1], [0.5]]
        found = typical_ratio(over, under)
        inside[0] += found.low <= 2 <= found.high
        pairs = generator.normal([[1.0], [4.0]], 0.5, size=(2, 6))
        found = ratio_of_means(*pairs)
        inside[1] += found.low <= 0.25 <= found.high
        wide, narrow = generator.normal(size=(2, 6)) * [[3], [1]]
        found = spread_ratio(wide, narrow)
        inside[2] += found.low <= 3 <= found.high
        found = spread_of(wide)
        inside[3] += found.low <= 3 <= found.high
    assert (inside >= 0.91 * 400).all(), inside


def test_what_has_no_ratio_says_why() -> None:
    assert typical_ratio([1.0, 0.0], [1.0, 1.0]).value is None
    assert ratio_of_means([1.0, 2.0], [1.0, 1.0]).value is None
    assert spread_ratio([1.0, 2.0], [1.0, 1.0]).value is None
    assert spread_of([1.0]).value is None
    assert ratio_of_means([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).value == pytest.approx(0.5)
