"""The share of a variance that a group explains, and the median."""

import numpy as np
import pytest

from nbyt_studies.measure.starts import explained_share
from nbyt_studies.numbers import median


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_known_share_is_found(share) -> None:
    generator = np.random.default_rng(4)
    values, inside = [], 0
    for _ in range(300):
        group = generator.normal(size=(1, 64, 3)) * np.sqrt(share)
        own = generator.normal(size=(3, 64, 3)) * np.sqrt(1 - share)
        found = explained_share(group + own + [5.0, 0.0, -1.0])
        values.append(found.value)
        inside += found.low <= share <= found.high
    # A ratio of unbiased estimates has a bias of order 1/n.
    assert np.mean(values) == pytest.approx(share, abs=0.02)
    assert inside >= 0.91 * 300


def test_one_draw_says_nothing() -> None:
    assert explained_share(np.ones((1, 4, 2))).value is None
    assert explained_share(np.ones((2, 4, 2))).value is None


def test_the_median_is_covered() -> None:
    generator = np.random.default_rng(5)
    inside = 0
    for _ in range(500):
        found = median(generator.exponential(size=25))
        assert found.low <= found.value <= found.high
        inside += found.low <= np.log(2) <= found.high
    assert inside >= 0.93 * 500
    assert median(np.arange(5.0)).value is None
    assert median(np.arange(101.0)).value == 50
