"""Two layouts on the same chains: values by their definition, intervals that use the pairing."""

import numpy as np
import pytest
from gradient_vectors import Vectors

from nbyt.stats.comparison import Candidate
from nbyt_studies.comparisons import (
    bias_gap,
    covariance_gap,
    covariance_share,
    individual_ratio,
    relative_bias,
    variance_ratio,
)


def vectors(seed: int, steps: int = 4, chains: int = 32) -> Vectors:
    """Chains whose steps share a part, around a mean that is not the reference's."""
    generator = np.random.default_rng(seed)
    shared = generator.normal(size=(chains, 6, 1, 5))
    own = generator.normal(size=(chains, 6, steps, 5))
    references = 3.0 + 0.1 * generator.normal(size=(chains, 5))
    return Vectors(shared + own + 2.0, references, np.zeros(chains, int))


@pytest.fixture
def many() -> Candidate:
    return Candidate(vectors(0).products(), 8)


def test_values_are_those_of_the_definitions(many: Candidate) -> None:
    few = Candidate(many.products, 4)
    assert variance_ratio(many, few).value == pytest.approx(0.5)
    assert individual_ratio(many, few).value == pytest.approx(0.5)
    share = covariance_share(many)
    # Twice the variance, and twice the covariance: (2 - 1) of (2 + 1).
    assert covariance_gap(few, many).value == pytest.approx(share.value / 3)
    # A step has variance 2, four of them share 1: individual 2/4 of 1 + 1/4.
    assert share.low < 0.6 < share.high


def test_a_layout_beside_itself_differs_by_nothing(many: Candidate) -> None:
    ratio, gap = variance_ratio(many, many), bias_gap(many, many)
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((1, 1, 1))
    assert (gap.low, gap.value, gap.high) == pytest.approx((0, 0, 0))


def test_the_bias_is_that_of_the_means(many: Candidate) -> None:
    found = relative_bias(many)
    assert found.approximate
    assert found.low < (1.0 / 3.0) ** 2 < found.high


def test_what_would_divide_by_zero_is_undetermined(many: Candidate) -> None:
    empty = vectors(1)
    silent = Vectors(empty.contributions, 0 * empty.references, empty.blocks)
    assert relative_bias(Candidate(silent.products(), 8)).value is None
