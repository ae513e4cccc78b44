"""Draws from a replay buffer: only rows that are there, and each as often as it should be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nbyt.errors import UsageError
from nbyt.minibatch.replay import SAMPLINGS, Filled, draw

# A right sampler fails a test at this level once in ten thousand seeds; the seeds are fixed.
LEVEL = 1e-4


def held(filled: Filled) -> np.ndarray:
    """Places of the rows that are in the ring, by writing it row by row; -1 is unwritten."""
    ring = np.full(filled.capacity, -1)
    for row in range(filled.written):
        ring[row % filled.capacity] = row
    return ring


@given(
    written=st.integers(1, 60),
    capacity=st.integers(1, 25),
    share=st.floats(0, 1),
    sampling=st.sampled_from(sorted(SAMPLINGS)),
    seed=st.integers(0, 99),
)
@settings(max_examples=200, deadline=None)
def test_only_rows_that_are_there(
    written: int, capacity: int, share: float, sampling: str, seed: int
) -> None:
    filled = Filled(written, capacity)
    minibatch = max(1, int(share * filled.count))
    places = draw(sampling, filled, minibatch, 3, np.random.default_rng(seed))
    assert places.shape == (3, minibatch) and places.dtype == np.int32
    found = held(filled)[places]
    assert (found >= filled.written - filled.count).all()
    if sampling in ("sequential", "newest"):
        assert (np.diff(found, axis=1) == 1).all()
    if sampling == "newest":
        assert (found[:, -1] == written - 1).all()
    if sampling not in ("uniform", "stratified"):  # spans that share a row may draw it twice
        assert all(len(set(row)) == minibatch for row in found.tolist())


@pytest.mark.parametrize("sampling", ["uniform", "distinct", "stratified"])
@pytest.mark.parametrize("written", [70, 100, 1037])
def test_every_row_is_drawn_as_often(sampling: str, written: int) -> None:
    """Chi-square over the draws from a ring that is partly filled, just full, or wrapped around."""
    filled = Filled(written, 100)
    places = draw(sampling, filled, 7, 20_000, np.random.default_rng(5))
    counts = np.bincount(places.reshape(-1), minlength=100)
    there = held(filled) >= 0
    assert not counts[~there].any()
    assert stats.chisquare(counts[there]).pvalue > LEVEL


def test_pairs_are_drawn_alike_without_replacement() -> None:
    places = np.sort(draw("distinct", Filled(6, 6), 2, 30_000, np.random.default_rng(1)), axis=1)
    counts = np.bincount(places[:, 0] * 6 + places[:, 1])
    assert stats.chisquare(counts[counts > 0]).pvalue > LEVEL and (counts > 0).sum() == 15


def test_replacement_repeats_rows_and_the_others_do_not() -> None:
    generator = np.random.default_rng(2)
    repeated = draw("uniform", Filled(10, 10), 10, 2000, generator)
    share = np.mean([len(set(row)) / 10 for row in repeated.tolist()])
    assert abs(share - (1 - 0.9**10)) < 0.01
    distinct = draw("distinct", Filled(10, 10), 10, 50, generator)
    assert (np.sort(distinct, axis=1) == np.arange(10)).all()


def test_strata_have_one_row_each() -> None:
    ages = draw("stratified", Filled(100, 100), 10, 500, np.random.default_rng(3))
    assert (ages // 10 == np.arange(10)).all()


@pytest.mark.parametrize(("written", "minibatch"), [(0, 1), (5, 6), (50, 11), (50, 0)])
def test_what_cannot_be_drawn_is_refused(written: int, minibatch: int) -> None:
    with pytest.raises(UsageError, match="cannot be drawn"):
        draw("uniform", Filled(written, 10), minibatch, 1, np.random.default_rng(0))
