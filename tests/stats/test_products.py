"""Laws of moments: inner products of chains give what the vectors themselves give."""

import numpy as np
import pytest
from gradient_vectors import Vectors, individual, jackknife, over_pairs, variance, vectors
from hypothesis import given

from nbyt.errors import UsageError
from nbyt.stats import Products
from nbyt.stats.intervals import leave_one_out
from nbyt.stats.products import moments_of, step_variance


@given(vectors())
def test_moments_are_means_over_chains_and_over_pairs_of_different_chains(v: Vectors) -> None:
    found = moments_of(v.products(), leave_one_out(v.chains))
    np.testing.assert_allclose(found.variance, jackknife(v, variance), atol=1e-10)
    for name, first, second in (
        ("mean_sq", "means", "means"),
        ("along", "means", "references"),
        ("reference_sq", "references", "references"),
    ):
        expected = jackknife(
            v, lambda w, a=first, b=second: over_pairs(getattr(w, a), getattr(w, b))
        )
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-10)
    expected = found.mean_sq + found.variance / 7
    np.testing.assert_allclose(found.second_moment(7), expected)


@given(vectors(least=4))
def test_a_chain_left_out_takes_its_same_time_products_with_it(v: Vectors) -> None:
    blocks = Vectors(v.contributions, v.references, np.arange(v.chains) % 2)
    for w in (v, blocks) if v.chains > 5 else (v,):
        steps = w.contributions.shape[2]
        found = step_variance(w.products(), leave_one_out(w.chains)) / steps
        np.testing.assert_allclose(found, jackknife(w, individual), atol=1e-10)


def test_two_chains_are_too_few_and_the_error_says_how_many() -> None:
    one, two = np.ones((1, 2)), np.ones((1, 2, 2))
    with pytest.raises(UsageError, match="2 chains are too few") as caught:
        Products(1, one, one, one, np.ones(2, int), two, two, two)
    assert "at least 3" in caught.value.fix


def test_one_pair_at_the_same_time_is_too_few_unless_t_is_one() -> None:
    row, gram = np.ones((1, 3)), np.ones((1, 3, 3))
    partners = np.array([1, 1, 0])
    with pytest.raises(UsageError, match="same time"):
        Products(2, row, row, row, partners, gram, gram, gram)
    assert Products(1, row, row, row, partners, gram, gram, gram).chains == 3
