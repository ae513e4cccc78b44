"""Rows in order: every number beside the obvious form of it."""

import numpy as np
import pytest

from nbyt.minibatch.replay import SAMPLINGS
from nbyt_studies.numbers import deviations, lag_correlations, mean_cosine, of_strata, of_windows


@pytest.fixture
def apart() -> np.ndarray:
    """Deviations of 64 vectors that remember their neighbours."""
    noise = np.random.default_rng(0).normal(size=(64, 3))
    rows = np.stack([noise[max(0, k - 4) : k + 1].mean(0) for k in range(64)])
    return deviations(rows + 5)


def test_correlations_are_means_of_products(apart) -> None:
    square = np.mean(np.sum(apart**2, axis=1))
    pairs = [apart[k] @ apart[k + 3] for k in range(61)]
    one, three = lag_correlations(apart, (1, 3))
    assert three == pytest.approx(np.mean(pairs) / square)
    assert one > three > 0
    others = [apart[a] @ apart[b] for a in range(64) for b in range(64) if a != b]
    assert np.mean(others) / square == pytest.approx(-1 / 63)


def test_windows_are_all_that_sequential_sampling_can_draw(apart) -> None:
    every = [np.sum(apart[k : k + 8].mean(0) ** 2) for k in range(57)]
    assert of_windows(apart, (1, 8))[1] == pytest.approx(np.mean(every))
    assert of_windows(apart, [64])[0] == pytest.approx(0, abs=1e-12)
    for sizes in ([3], [4, 2]):
        with pytest.raises(ValueError, match="power of 2"):
            of_windows(apart, sizes)


def test_strata_are_what_stratified_sampling_draws(apart) -> None:
    draws = SAMPLINGS["stratified"](64, (20_000, 4), np.random.default_rng(1))
    squares = np.sum(apart[draws].mean(1) ** 2, axis=1)
    assert of_strata(apart, [4])[0] == pytest.approx(squares.mean(), rel=0.03)
    assert of_strata(apart, [1])[0] == pytest.approx(of_windows(apart, [1])[0])
    assert of_strata(apart, [64])[0] == pytest.approx(0, abs=1e-12)


def test_cosines_leave_rows_of_zero_out() -> None:
    first = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    second = np.array([[3.0, 0.0], [1.0, 0.0], [-2.0, -2.0]])
    assert mean_cosine(first, second) == pytest.approx(0)
    assert np.isnan(mean_cosine(first[1:2], second[1:2]))
