"""Laws of alignment: signed, never clipped, and null with a reason where it has no meaning."""

import math

import numpy as np
import pytest
from gradient_vectors import (
    Vectors,
    alignment,
    bias_factor,
    jackknife,
    over_pairs,
    random_vectors,
    variance,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.stats import describe
from nbyt.stats.intervals import ratio_set, within
from nbyt.stats.summary import _share


def strong(chains: int, seed: int) -> Vectors:
    return random_vectors(chains, 3, 2, 5, seed, signal=3.0)


def literal_set(x, length, chains) -> tuple[float, float] | None:
    return within(ratio_set(x, np.sqrt(length), chains), -1.0, 1.0)


@settings(max_examples=20)
@given(st.integers(6, 9), st.integers(0, 10**6), st.integers(1, 100))
def test_values_and_sets_are_those_of_the_vectors(chains, seed, envs) -> None:
    v = strong(chains, seed)
    found = describe(v.products(), envs)
    x = jackknife(v, lambda w: over_pairs(w.means, w.references))
    y = jackknife(v, lambda w: over_pairs(w.references, w.references))
    u = jackknife(v, lambda w: over_pairs(w.means, w.means))
    z = u + jackknife(v, variance) / envs
    assert found.bias_factor.value == pytest.approx(bias_factor(v))
    assert found.alignment.value == pytest.approx(alignment(v, envs))
    assert found.cosine.value == pytest.approx(x[0] / math.sqrt(u[0] * y[0]))
    assert found.noise_factor.value == pytest.approx(u[0] / z[0])
    product = found.bias_factor.value * found.noise_factor.value
    assert found.alignment.value == pytest.approx(product)
    for estimate, length in ((found.bias_factor, u * y), (found.alignment, y * z)):
        expected = literal_set(x, length, chains)
        if expected is not None:
            bounds = np.array(expected) * np.abs(expected)
            np.testing.assert_allclose((estimate.low, estimate.high), bounds, rtol=1e-5)


def test_where_a_length_is_lost_without_one_chain_the_squares_decide() -> None:
    """One chain carries the reference: without it |G*|² is negative and has no root."""
    v = random_vectors(12, 2, 2, 6, seed=2, signal=3.0)
    references = 0.02 * np.random.default_rng(1).normal(size=v.references.shape)
    references[:2] += 3.0
    alone = Vectors(v.contributions, references, v.blocks)
    x = jackknife(alone, lambda w: over_pairs(w.means, w.references))
    y = jackknife(alone, lambda w: over_pairs(w.references, w.references))
    u = jackknife(alone, lambda w: over_pairs(w.means, w.means))
    assert y[0] > 0 and not np.all(y > 0)
    expected = within(ratio_set(x * np.abs(x), u * y, 12), -1.0, 1.0)
    found = describe(alone.products(), 8).bias_factor
    np.testing.assert_allclose((found.low, found.high), expected, rtol=1e-6)


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_the_opposite_gradient_has_the_opposite_sign(seed) -> None:
    v = strong(20, seed)
    there = describe(v.products(), 8)
    back = describe(Vectors(v.contributions, -v.references, v.blocks).products(), 8)
    for name in ("cosine", "bias_factor", "alignment"):
        one, other = getattr(there, name), getattr(back, name)
        assert other.value == pytest.approx(-one.value)
        assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
    assert back.noise_factor == there.noise_factor


def test_a_gradient_equal_to_its_reference_has_cosine_one() -> None:
    v = strong(64, 1)
    found = describe(Vectors(v.contributions, v.means, v.blocks).products(), 16)
    for estimate in (found.cosine, found.bias_factor):
        numbers = (estimate.value, estimate.low, estimate.high)
        np.testing.assert_allclose(numbers, 1, atol=1e-6)
    assert found.alignment.value == pytest.approx(found.noise_factor.value)
    assert found.bias_sq.value == pytest.approx(0, abs=1e-12)


def test_estimates_may_pass_one_and_intervals_may_not() -> None:
    passed = 0
    for seed in range(20):
        v = random_vectors(64, 2, 2, 6, seed, signal=1.0)
        exact = Vectors(v.contributions, np.tile(v.means.mean(0), (64, 1)), v.blocks)
        found = describe(exact.products(), 16)
        passed += found.cosine.value > 1
        for estimate in (found.cosine, found.bias_factor, found.alignment):
            assert -1 <= estimate.low <= estimate.high <= 1
    assert passed > 0


def test_noise_alone_leaves_alignment_undetermined() -> None:
    found = describe(random_vectors(64, 2, 2, 6, seed=4, signal=0.0).products(), 16)
    assert found.alignment.value is None
    assert (found.alignment.low, found.alignment.high) == (-1, 1)
    assert "from -1 to 1" in found.alignment.reason or "not above 0" in found.alignment.reason
    assert str(found.alignment) == f"undetermined ({found.alignment.reason})"


def test_without_a_reference_there_is_a_noise_factor_and_no_direction() -> None:
    v = strong(64, 2)
    found = describe(Vectors(v.contributions, 0 * v.references, v.blocks).products(), 16)
    assert found.noise_factor.value > 0
    for estimate in (found.cosine, found.bias_factor, found.alignment):
        assert estimate.value is None and estimate.reason == "the reference gradient is zero"


def test_a_zero_gradient_has_a_bias_and_no_direction() -> None:
    v = strong(64, 3)
    found = describe(Vectors(0 * v.contributions, v.references, v.blocks).products(), 16)
    assert found.variance.value == 0
    assert found.bias_sq.value == pytest.approx(over_pairs(v.references, v.references))
    assert found.mse == found.bias_sq
    for estimate in (found.cosine, found.bias_factor, found.noise_factor, found.alignment):
        assert estimate.value is None and estimate.reason == "the gradient is zero"


def test_a_reference_lost_in_noise_is_named() -> None:
    for seed in range(30):
        v = strong(64, seed)
        noise = np.random.default_rng(seed).normal(size=v.references.shape)
        found = describe(Vectors(v.contributions, noise, v.blocks).products(), 16)
        if over_pairs(noise, noise) <= 0:
            assert found.alignment.value is None
            assert "|G*|²" in found.alignment.reason or "from -1" in found.alignment.reason
            return
    pytest.fail("no seed gave a reference whose squared length came out negative")


def test_few_directions_of_spread_make_a_cosine_approximate() -> None:
    many, few = random_vectors(64, 2, 2, 30, 5, 2.0), random_vectors(64, 2, 2, 2, 5, 2.0)
    assert describe(few.products(), 4).cosine.approximate
    turned = Vectors(many.contributions, many.references + np.linspace(-2, 2, 30), many.blocks)
    assert not describe(turned.products(), 4).cosine.approximate


@pytest.mark.parametrize(
    ("ratio", "share"), [(3.0, 0.75), (math.inf, 1), (0.0, 0), (-0.2, 0), (-3.0, 0), (-math.inf, 0)]
)
def test_the_noise_factor_of_a_negative_estimate_is_zero(ratio, share) -> None:
    assert _share(ratio) == pytest.approx(share)
