"""IQMs, their intervals, and who beats whom: against slow and obvious ways to the same numbers."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.calibration.gate import limits
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy.stats import spearmanr, trim_mean

from nbyt.stats.estimate import LEVEL
from nbyt.stats.runs import (
    FEWEST,
    TOO_FEW,
    behind,
    improvement,
    interval,
    iqm,
    iqm_estimate,
    losses,
    rank_agreement,
    rank_correlation,
    redrawn,
    regrets,
)

_COVERAGE = Path(__file__).parents[2] / "benchmarks" / "sweep" / "coverage.json"
scores = st.lists(st.integers(-5, 5), min_size=2, max_size=9).map(lambda x: np.array(x, float))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 8, 16])
def test_an_iqm_is_the_mean_of_the_middle_half(count: int) -> None:
    some = rng(count).normal(size=(5, count))
    assert iqm(some) == pytest.approx(trim_mean(some, 0.25, axis=1))
    assert iqm(some.T, axis=0) == pytest.approx(iqm(some))


def test_an_interval_moves_and_grows_with_the_scores() -> None:
    some = rng().normal(size=8)
    one, other = iqm_estimate(some, rng(1)), iqm_estimate(10 + 3 * some, rng(1))
    for name in ("value", "low", "high"):
        assert getattr(other, name) == pytest.approx(10 + 3 * getattr(one, name))


def test_the_fewer_the_seeds_the_further_out_the_percentiles() -> None:
    """For a mean of normal draws they are Student's interval, to the grain of the draws."""
    drawn = special.ndtri((np.arange(200_000) + 0.5) / 200_000)
    for seeds in (5, 8, 16, 200):
        half = float(special.stdtrit(seeds - 1, 0.5 + LEVEL / 2))
        found = interval(0.0, drawn, seeds)
        assert (found.low, found.high) == pytest.approx((-half, half), rel=1e-3)
        assert found.approximate == (seeds < FEWEST)


def test_seeds_that_are_not_there_have_a_reason() -> None:
    none, one = iqm_estimate(np.zeros(0), rng()), iqm_estimate(np.ones(1), rng())
    assert none.value is None and "no seed" in none.reason
    assert one.value == 1 and one.as_dict()["low"] is None and "one seed" in one.reason
    assert improvement(np.zeros(0), np.ones(3)).value is None
    alone = improvement(np.ones(1), np.zeros(3))
    assert (alone.value, alone.low, alone.high) == (1, 0, 1)


@settings(max_examples=30, deadline=None)
@given(scores, scores)
def test_a_probability_counts_pairs_and_mirrors(first: np.ndarray, second: np.ndarray) -> None:
    wins = [1.0 if x > y else 0.5 if x == y else 0.0 for x in first for y in second]
    one, other = improvement(first, second), improvement(second, first)
    assert one.value == pytest.approx(np.mean(wins))
    assert 0 <= one.low <= one.value + 1e-9 and one.value <= one.high + 1e-9 <= 1 + 1e-9
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))


@pytest.mark.parametrize("count", [4, 8, 32])
def test_an_end_is_as_improbable_as_it_says(count: int) -> None:
    """Of the values that exponential scores give where the truth is the end, 2.5 % are beyond."""
    first = np.arange(count, dtype=float)
    found = improvement(first + 0.35 * count, first)
    odds = found.low / (1 - found.low)
    draws = rng().exponential(size=(2, 4000, count))
    apart = odds * draws[0][:, :, None] - draws[1][:, None, :]
    share = np.mean((apart > 0).mean((1, 2)) >= found.value)
    assert 0.003 <= share <= 0.06


def test_separate_seeds_leave_doubt() -> None:
    """Draws of seeds would not: all of them agree."""
    lows = [improvement(1.0 + np.arange(n), -np.arange(float(n))).low for n in (2, 4, 8, 32)]
    assert lows == sorted(lows) and lows[0] > 0.2 and lows[-1] < 1


def test_intervals_are_marked_where_they_were_seen_to_be_rough() -> None:
    """benchmarks/sweep/coverage.json: what is shown without a mark holds the truth often enough.

    Nor much more often than it says: at most 97.5 % of the time.
    """
    found = json.loads(_COVERAGE.read_text())
    assert found["data_sets"] >= 1000
    bare = [row for row in found["iqm"] if row["seeds"] >= FEWEST]
    assert {row["seeds"] for row in bare} >= {8, 16, 32}
    shares = [row["coverage"]["shown"] for row in [*bare, *found["improvement"]]]
    assert found["gate"][0] <= min(shares) and max(shares) <= 0.98
    assert max(row["coverage"]["shown"] for row in bare) <= 0.975
    marked = [row for row in found["iqm"] if row["seeds"] < FEWEST]
    assert min(row["coverage"]["shown"] for row in marked) < found["gate"][0]


def test_coverage_can_be_seen_again() -> None:
    """A small part of what is in coverage.json: 200 data sets of 8 normal seeds."""
    generator = rng(3)
    held = 0
    for row in generator.normal(size=(200, 8)):
        found = iqm_estimate(row, generator)
        held += found.low <= 0 <= found.high
    low, high = limits(200)
    assert low <= held <= high


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
