"""Different labels in a mini-batch: formulas beside counting."""

from itertools import combinations

import numpy as np
import pytest

from nbyt_studies.numbers import distinct_in_windows, expected_distinct, mean_distinct

LABELS = np.array([0, 0, 1, 2, 2, 2, 0, 3, 3, 1])


def test_without_replacement_is_the_mean_over_all_subsets() -> None:
    for size in (1, 4, 8, 10):
        every = [len(set(LABELS[list(some)])) for some in combinations(range(10), size)]
        found = expected_distinct(LABELS, size, replace=False)
        assert found == pytest.approx(np.mean(every))


def test_with_replacement_is_what_draws_show() -> None:
    places = np.random.default_rng(0).integers(10, size=(20_000, 4))
    expected = expected_distinct(LABELS, 4, replace=True)
    assert mean_distinct(LABELS, places) == pytest.approx(expected, rel=0.01)


def test_windows_are_counted_one_by_one() -> None:
    for size in (1, 3, 7, 10):
        every = [len(set(LABELS[k : k + size])) for k in range(11 - size)]
        assert distinct_in_windows(LABELS, size) == pytest.approx(np.mean(every))
