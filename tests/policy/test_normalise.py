"""Laws of running moments: in pieces or at once, the same; what has no weight is not seen."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.policy import normalise

updated = jax.jit(normalise.update)


def seen(batches, weights=None) -> normalise.RunningMoments:
    moments = normalise.fresh(batches[0].shape[1:])
    for place, batch in enumerate(batches):
        weight = np.ones(len(batch)) if weights is None else weights[place]
        moments = updated(moments, jnp.asarray(batch), jnp.asarray(weight, jnp.float32))
    return moments


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 8), st.floats(-5, 5), st.floats(0.1, 10))
def test_merging_batches_gives_the_moments_of_all_data(seed, count, centre, spread) -> None:
    generator = np.random.default_rng(seed)
    data = generator.normal(centre, spread, (count, 64, 3)).astype(np.float32)
    found = seen(list(data))
    flat = data.reshape(-1, 3).astype(float)
    # The start (mean 0, variance 1) weighs 1e-4 samples; it is counted here too.
    weight = 1e-4
    total = len(flat) + weight
    mean = flat.sum(axis=0) / total
    square = ((flat**2).sum(axis=0) + weight) / total - mean**2
    np.testing.assert_allclose(found.seen, total, rtol=1e-6)
    np.testing.assert_allclose(found.mean, mean, atol=1e-5 * (spread + abs(centre)))
    np.testing.assert_allclose(found.variance, square, rtol=1e-4)
    np.testing.assert_allclose(found.mean, flat.mean(axis=0), atol=1e-4 * (spread + abs(centre)))


def test_the_order_and_the_sizes_of_batches_do_not_matter() -> None:
    data = np.random.default_rng(1).normal(2, 3, (60, 2)).astype(np.float32)
    cuts = [[data], [data[:7], data[7:8], data[8:]], [data[30:], data[:30]]]
    first, *others = (seen(batches) for batches in cuts)
    for other in others:
        np.testing.assert_allclose(first.mean, other.mean, rtol=1e-5)
        np.testing.assert_allclose(first.variance, other.variance, rtol=1e-5)


def test_a_far_off_mean_costs_no_precision() -> None:
    """Mean 1,000 and deviation 1: a sum of squares in float32 would have lost the variance."""
    data = np.random.default_rng(2).normal(1000, 1, (20, 500, 1)).astype(np.float32)
    found = seen(list(data))
    # The start's 1e-4 samples at 0 add 1e-4 x 1000^2 / 10,000 = 0.01 to the variance.
    np.testing.assert_allclose(found.variance, data.astype(float).var() + 0.01, rtol=2e-3)


def test_rows_without_weight_are_not_seen() -> None:
    data = np.random.default_rng(3).normal(size=(40, 2)).astype(np.float32)
    spoilt = np.concatenate([data, np.full((9, 2), 1e4, np.float32)])
    weight = np.concatenate([np.ones(40), np.zeros(9)])
    first, second = seen([data]), seen([spoilt], [weight])
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_batch_without_any_weight_changes_nothing() -> None:
    moments = seen([np.random.default_rng(4).normal(size=(40, 2)).astype(np.float32)])
    again = updated(moments, jnp.full((5, 2), 9.0), jnp.zeros(5))
    for a, b in zip(moments, again, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_standardised_data_has_mean_0_and_variance_1_and_is_clipped() -> None:
    data = np.random.default_rng(5).normal(3, 7, (500, 2)).astype(np.float32)
    moments = seen([data])
    found = np.asarray(normalise.standardise(moments, jnp.asarray(data)))
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(axis=0), 1, atol=1e-4)
    far = normalise.standardise(moments, jnp.array([[1e6, -1e6]]))
    np.testing.assert_array_equal(far, [[10, -10]])
    scaled = normalise.rescale(moments, jnp.array([[7.0, 1e6]]))
    np.testing.assert_allclose(scaled, [[7.0 / data[:, 0].std(), 10]], rtol=1e-3)
