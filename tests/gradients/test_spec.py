"""Fragment sums three ways: directly, by merging fragments, and by prefix sums."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from nbyt.collect.pool import Pool
from nbyt.gradients.spec import (
    GradientSpec,
    fragment_advantages,
    reference_advantages,
    scale_of,
    weigh,
)

_GAMMA, _LAM = 0.97, 0.9


class Fragment(NamedTuple):
    """A fragment's sum, the trace of its scores, its decay, and the advantage at its start."""

    total: np.ndarray
    trace: np.ndarray
    decay: float
    advantage: float


def merged(one: Fragment, two: Fragment) -> Fragment:
    """Two fragments in a row as one: what comes later is credited back along the trace."""
    return Fragment(
        one.total + two.total + two.advantage * one.trace,
        two.trace + two.decay * one.trace,
        one.decay * two.decay,
        one.advantage + one.decay * two.advantage,
    )


def _pool(steps: int, chains: int, seed: int) -> Pool:
    generator = np.random.default_rng(seed)
    shape = (steps, chains)
    terminated = generator.random(shape) < 0.1
    truncated = (generator.random(shape) < 0.1) & ~terminated
    reward, value, next_value, final = generator.normal(size=(4, *shape))
    next_value = np.where(terminated, 0, next_value)
    next_value_untruncated = np.where(truncated, final, next_value)
    zeros = np.zeros(shape)
    return Pool(
        zeros, zeros, reward, value, next_value, next_value_untruncated, terminated, truncated
    )


def _terms(pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    delta = pool.reward + _GAMMA * pool.next_value - pool.value
    return delta, _GAMMA * _LAM * ~(pool.terminated | pool.truncated)


@pytest.mark.parametrize("steps", [1, 2, 7, 32])
def test_direct_sums_equal_merged_ones_and_the_prefix_identity(steps: int) -> None:
    pool, scores = _pool(224, 1, steps), np.random.default_rng(0).normal(size=(224, 3))
    delta, decay = (x[:, 0] for x in _terms(pool))
    advantage = fragment_advantages(pool, _GAMMA, _LAM, steps, 224)[:, 0]
    endless = np.append(fragment_advantages(pool, _GAMMA, _LAM, 224, 224)[:, 0], 0.0)
    prefix = np.vstack([np.zeros(3), np.cumsum(scores * endless[:-1, None], axis=0)])
    trace = np.zeros((225, 3))
    for time in range(224):
        trace[time + 1] = decay[time] * (trace[time] + scores[time])
    for a in range(0, 224, steps):
        b = a + steps
        direct = advantage[a:b] @ scores[a:b]
        one = [
            Fragment(scores[t] * delta[t], decay[t] * scores[t], decay[t], delta[t])
            for t in range(a, b)
        ]
        while len(one) > 1:
            pairs = [merged(*one[k : k + 2]) for k in range(0, len(one) - 1, 2)]
            one = pairs + one[len(pairs) * 2 :]
        carried = np.prod(decay[a:b]) * trace[a]
        identity = prefix[b] - prefix[a] - endless[b] * (trace[b] - carried)
        assert_allclose(direct, one[0].total, rtol=0, atol=1e-10)
        assert_allclose(direct, identity, rtol=0, atol=1e-10)


@given(st.integers(1, 12), st.integers(0, 5))
def test_fragments_are_cut_where_they_end(steps: int, seed: int) -> None:
    pool = _pool(24, 2, seed)
    delta, decay = _terms(pool)
    advantage = fragment_advantages(pool, _GAMMA, _LAM, steps, 24)
    for chain in range(2):
        for time in range(24):
            end = (time // steps + 1) * steps
            expected, weight = 0.0, 1.0
            for later in range(time, end if end <= 24 else time):
                expected += weight * delta[later, chain]
                weight *= decay[later, chain]
            assert advantage[time, chain] == pytest.approx(expected, abs=1e-12)


def test_the_reference_waits_for_all_rewards_and_goes_past_time_limits() -> None:
    pool = _pool(20, 1, 3)
    ended = pool.terminated | pool.truncated
    pool.next_value[:-1] = np.where(ended[:-1], pool.next_value[:-1], pool.value[1:])
    pool.next_value_untruncated[:] = np.where(ended, pool.next_value_untruncated, pool.next_value)
    reference = reference_advantages(pool, _GAMMA)[:, 0]
    for time in range(20):
        total, weight = 0.0, 1.0
        for later in range(time, 20):
            total += weight * pool.reward[later, 0]
            weight *= _GAMMA
            if ended[later, 0] or later == 19:
                total += weight * pool.next_value_untruncated[later, 0]
                break
        assert reference[time] == pytest.approx(total - pool.value[time, 0], abs=1e-12)


def test_normalised_weights_have_mean_0_and_spread_1_over_the_pool() -> None:
    pool = _pool(40, 5, 1)
    spec = GradientSpec((1, 8), (0.9, 0.3), 32, _GAMMA, normalise=True)
    scale = scale_of(pool, spec)
    fragment, whole = weigh(pool, spec, scale, slice(0, 5))
    weights = fragment["actor"]["actor"].reshape(2, 2, -1)
    assert_allclose(weights.mean(-1), 0, atol=1e-6)
    assert_allclose(weights.std(-1), 1, atol=1e-6)
    assert_allclose(whole["actor"]["actor"][1].mean(), 0, atol=1e-6)
    raw = weigh(pool, spec, scale, slice(0, 5))[0]["critic"]["critic"]
    assert_allclose(
        raw[1, 0].T, fragment_advantages(pool, _GAMMA, 0.9, 8, 32), rtol=1e-5, atol=1e-6
    )
