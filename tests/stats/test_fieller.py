"""Laws of Fieller sets: a ratio is in the set exactly if the data do not contradict it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbyt.stats.intervals import (
    EVERYTHING,
    bias_corrected,
    deviations,
    leave_one_out,
    ratio_set,
    spread,
    within,
)


def pair_of_means(chains, centres, seed):
    values = np.random.default_rng(seed).normal(size=(2, chains)) + np.array(centres)[:, None]
    samples = leave_one_out(chains)
    return samples.mean(values[:1]), samples.mean(values[1:])


@given(
    st.integers(4, 20),
    st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
    st.integers(0, 10**6),
    st.floats(-10, 10),
)
def test_a_ratio_is_in_the_set_if_the_difference_is_within_its_error(
    chains, centres, seed, h
) -> None:
    top, bottom = pair_of_means(chains, centres, seed)
    a, b = bias_corrected(top, chains), bias_corrected(bottom, chains)
    errors = deviations(top, chains), deviations(bottom, chains)
    quantile = spread(errors[0] - a / b * errors[1], chains).quantile()
    distance = abs(a - h * b) - quantile * math.sqrt(np.sum((errors[0] - h * errors[1]) ** 2))
    if abs(distance) > 1e-9:
        held = any(low <= h <= high for low, high in ratio_set(top, bottom, chains))
        assert held == (distance < 0)


def test_the_three_shapes_of_a_set() -> None:
    assert len(ratio_set(*pair_of_means(20, (3, 3), 0), 20)) == 1
    two = ratio_set(*pair_of_means(20, (3, 0), 0), 20)
    assert [piece[0] == -math.inf for piece in two] == [True, False]
    assert ratio_set(*pair_of_means(20, (0, 0), 3), 20) == EVERYTHING


def test_equal_parts_have_the_ratio_one_and_nothing_else() -> None:
    top, _ = pair_of_means(10, (3, 3), 1)
    [(low, high)] = ratio_set(top, top, 10)
    assert low == pytest.approx(1, abs=1e-7) and high == pytest.approx(1, abs=1e-7)


def test_nothing_over_nothing_is_everything() -> None:
    assert ratio_set(np.zeros(11), np.zeros(11), 10) == EVERYTHING


@pytest.mark.parametrize(
    ("pieces", "cut"),
    [
        ([(0.2, 0.4)], (0.2, 0.4)),
        ([(0.2, 4.0)], (0.2, 1.0)),
        ([(2.0, 4.0)], None),
        ([(-math.inf, -0.5), (0.5, math.inf)], (-1.0, 1.0)),
        ([(-math.inf, -3.0), (0.5, math.inf)], (0.5, 1.0)),
        (EVERYTHING, (-1.0, 1.0)),
    ],
)
def test_the_part_within_bounds(pieces, cut) -> None:
    assert within(pieces, -1.0, 1.0) == cut
