"""Shares: intervals of differences that cover, and that never are a point."""

from itertools import product

import numpy as np
from scipy import stats

from nbyt_studies.numbers import share, share_difference

COUNT = 8
SHARES = [share(hits, COUNT) for hits in range(COUNT + 1)]


def test_differences_cover_the_truth() -> None:
    found = [share_difference(first, second) for first, second in product(SHARES, SHARES)]
    low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
    for first, second in product(np.linspace(0, 1, 6), repeat=2):
        laws = [stats.binom.pmf(range(COUNT + 1), COUNT, p) for p in (first, second)]
        inside = (low <= first - second + 1e-12) & (high >= first - second - 1e-12)
        assert np.outer(*laws).ravel() @ inside >= 0.95


def test_equal_shares_tell_nothing() -> None:
    found = share_difference(SHARES[0], SHARES[0])
    assert found.value == 0 and found.low < -0.2 and found.high > 0.2


def test_all_against_none_is_a_difference() -> None:
    assert share_difference(SHARES[-1], SHARES[0]).low > 0.4
