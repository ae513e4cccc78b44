"""Laws of the decomposition: two parts that add up, and a reason wherever there is no number."""

import numpy as np
import pytest
from gradient_vectors import Vectors, individual, jackknife, random_vectors, variance, vectors
from hypothesis import given
from hypothesis import strategies as st

from nbyt.stats.intervals import leave_one_out, positive, positive_ratio, real
from nbyt.stats.products import moments_of
from nbyt.stats.variance import NO_VARIANCE, STILL, ZERO, Decomposition, decompose


def decomposed(v: Vectors, envs: int = 1) -> Decomposition:
    products, samples = v.products(), leave_one_out(v.chains)
    return decompose(products, moments_of(products, samples), samples, envs)


def assert_same(found, expected) -> None:
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.low, expected.low, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(found.high, expected.high, rtol=1e-5, atol=1e-8)
    assert found.approximate == expected.approximate


@given(st.integers(0, 10**6), st.integers(1, 50), st.integers(4, 12))
def test_parts_and_intervals_are_those_of_the_vectors(seed, envs, chains) -> None:
    v = random_vectors(chains, 3, 4, 5, seed)
    found = decomposed(v, envs)
    whole, steps = jackknife(v, variance), jackknife(v, individual)
    assert_same(found.variance, positive(whole / envs, chains))
    assert_same(found.individual, positive(steps / envs, chains))
    assert_same(found.covariance, real((whole - steps) / envs, chains))
    assert_same(found.ess_ratio, positive_ratio(steps / whole, chains))
    assert found.covariance_share.value == pytest.approx(1 - found.ess_ratio.value)
    assert found.covariance_share.low == pytest.approx(1 - found.ess_ratio.high)


@given(vectors(least=4))
def test_variance_is_individual_plus_covariance(v: Vectors) -> None:
    found = decomposed(v, 8)
    if found.variance.value is not None and found.individual.value is not None:
        total = found.individual.value + found.covariance.value
        assert found.variance.value == pytest.approx(total)


def test_one_step_has_no_covariance_at_all() -> None:
    found = decomposed(random_vectors(9, 4, 1, 3, seed=2))
    assert found.individual == found.variance
    assert (found.covariance.value, found.covariance.low, found.covariance.high) == (0, 0, 0)
    assert (found.ess_ratio.value, found.ess_ratio.low, found.ess_ratio.high) == (1, 1, 1)


def test_steps_that_repeat_each_other_are_worth_one_and_opposed_steps_more_than_all() -> None:
    generator = np.random.default_rng(0)
    once = generator.normal(size=(100, 3, 1, 4))
    blocks, references = np.arange(100) // 10, np.ones((100, 4))
    same = decomposed(Vectors(np.repeat(once, 5, axis=2), references, blocks))
    assert same.ess_ratio.value == pytest.approx(1 / 5, rel=0.02)
    opposed = np.concatenate([once, -once], axis=2) + 0.1 * generator.normal(size=(100, 3, 2, 4))
    assert decomposed(Vectors(opposed, references, blocks)).ess_ratio.value > 50


def test_a_zero_gradient_has_no_variance_and_no_ratio() -> None:
    found = decomposed(random_vectors(8, 2, 3, 4, seed=0).times(0.0))
    for part in (found.variance, found.individual, found.covariance):
        assert (part.value, part.low, part.high, part.reason) == (0, 0, 0, "")
    assert found.ess_ratio.value is None and found.ess_ratio.reason == ZERO
    assert found.covariance_share.reason == ZERO


def test_a_gradient_that_never_varies_has_no_ratio() -> None:
    still = Vectors(np.ones((8, 2, 3, 4)), np.ones((8, 4)), np.zeros(8))
    assert decomposed(still).variance.value == 0
    assert decomposed(still).ess_ratio.reason == STILL


def test_a_variance_that_comes_out_negative_is_undetermined() -> None:
    # Chains that differ only in sign of a tiny part: their products exceed their squares by luck.
    v = Vectors(np.array([1.0, 1.0, 1.0, -3.0]).reshape(4, 1, 1, 1), np.ones((4, 1)), np.zeros(4))
    products = v.products()
    flipped = type(products)(
        products.steps,
        products.square * 0.01,
        products.step_square,
        products.step_pairs,
        products.partners,
        np.abs(products.means),
        products.cross,
        products.reference,
    )
    samples = leave_one_out(4)
    found = decompose(flipped, moments_of(flipped, samples), samples, 1)
    assert found.variance.value is None and found.variance.reason == NO_VARIANCE
    assert found.ess_ratio.reason == NO_VARIANCE
