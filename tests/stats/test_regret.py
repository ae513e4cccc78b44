"""What a layout loses against the best: exact where seeds are alike, and not fooled by luck."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from nbyt.stats.runs import (
    TOO_FEW,
    behind,
    iqm,
    losses,
    rank_agreement,
    rank_correlation,
    redrawn,
    regrets,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_without_noise_a_loss_is_the_difference() -> None:
    heights = np.array([1.0, 4.0, 3.0])
    rows = [np.full(count, height) for height, count in zip(heights, (4, 6, 9), strict=True)]
    assert np.all(losses(rows, rng(), 50) == 4.0 - heights)
    for found, lost in zip(regrets(rows, rng()), (3.0, 0.0, 1.0), strict=True):
        assert (found.value, found.low, found.high) == (lost, lost, lost)


def test_luck_is_no_loss() -> None:
    """Of layouts that are all alike, one looks best; held out, no layout loses to it."""
    generator = rng(1)
    held, naive = [], []
    for _ in range(60):
        rows = generator.normal(size=(8, 8))
        held.append(losses(list(rows), generator, 100).mean(axis=0)[0])
        naive.append(iqm(rows).max() - iqm(rows)[0])
    error = np.std(held) / np.sqrt(len(held))
    assert abs(np.mean(held)) < 4 * error and np.mean(naive) > 0.3 > 4 * error


def test_scores_that_are_not_certain_are_drawn_row_by_row() -> None:
    certain = [np.arange(8.0), np.arange(8.0) + 5]
    varied = [np.tile(row, (2000, 1)) for row in certain]
    same = [losses(rows, rng()) for rows in (certain, varied)]
    assert np.array_equal(*same)


def test_few_seeds_are_left_out_and_hide_no_other() -> None:
    rows = [np.ones(8), np.zeros(3), np.full(8, 0.5)]
    found = regrets(rows, rng())
    assert [one.value for one in found] == [0.0, None, 0.5]
    assert found[1].reason == TOO_FEW
    assert behind(rows[0], rows[1], np.zeros(10)).reason == TOO_FEW


def test_behind_holds_the_difference_of_the_iqms() -> None:
    first, second = rng().normal(size=(2, 12)) + np.array([[2.0], [0.0]])
    drawn = [iqm(row[redrawn(12, rng(k))]) for k, row in enumerate((first, second))]
    found = behind(first, second, drawn[0] - drawn[1])
    assert found.value == pytest.approx(iqm(first) - iqm(second))
    assert 0 < found.low < found.value < found.high and found.approximate


def test_rank_correlation_is_spearmans() -> None:
    generator = rng(2)
    heights = generator.integers(0, 6, size=(20, 7)).astype(float)
    foretold = generator.normal(size=7)
    wanted = [spearmanr(row, foretold).statistic for row in heights]
    assert rank_correlation(heights, foretold) == pytest.approx(wanted)


def test_agreement_needs_layouts_that_differ() -> None:
    same = [np.ones(5)] * 4
    assert rank_agreement(same, np.arange(4.0), rng()).reason == "all layouts tie"
    assert rank_agreement(same[:2], np.arange(2.0), rng()).value is None
    rows = [np.arange(5.0) + 10 * k for k in range(4)]
    found = rank_agreement(rows, np.arange(4.0), rng())
    assert (found.value, found.low, found.high) == pytest.approx((1.0, 1.0, 1.0))
    assert found.approximate
