"""Pools: independent chains at random phases, whole in memory or not, past time limits."""

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from toys import Clock, actor_critic, random_tables

from nbyt.collect import pool as pools
from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs import resolve, tabular

_GAMMA = 0.9


def _plan(**changes: object) -> PoolPlan:
    return PoolPlan(chains=6, steps=20, ahead=15, gamma=_GAMMA, seed=0)._replace(**changes)


def _device_pool(limit: int | None = 4, **changes: object) -> Pool:
    env = random_tables(limit)
    return collect_pool(env, *actor_critic(env, "table"), _plan(**changes))


def test_following_is_the_next_rows_value_but_at_ends() -> None:
    pool = _device_pool()
    ended = pool.terminated | pool.truncated
    assert (pool.steps, pool.chains) == (20, 6) and ended.any() and pool.truncated.any()
    inside = ~ended[:-1]
    np.testing.assert_allclose(pool.next_value[:-1][inside], pool.value[1:][inside], rtol=1e-6)
    assert (pool.next_value[pool.terminated] == 0).all()
    assert (pool.next_value_untruncated[~pool.truncated] == pool.next_value[~pool.truncated]).all()


def test_fewer_chains_are_a_prefix_of_more() -> None:
    few, many = _device_pool(chains=3), _device_pool(chains=6)
    for name in ("observation", "action", "reward"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name)[:, :3])


def test_other_rounds_and_seeds_are_other_chains() -> None:
    first, round_1, seed_1 = _device_pool(), _device_pool(round=1), _device_pool(seed=1)
    assert (first.reward != round_1.reward).any() and (first.reward != seed_1.reward).any()


def test_a_side_branch_earns_what_the_policy_earns_without_a_limit() -> None:
    """Rewards of 1 for ever: going on is worth 1 + gamma + ... and then the critic's value."""
    shape = (2, 2, 2)
    env = tabular.from_arrays(
        np.full(shape, 0.5), np.ones(shape), np.zeros(shape, bool), [1, 0], time_limit=5
    )
    policy, params = actor_critic(env, "table")
    pool = collect_pool(env, policy, params, _plan(ahead=15))
    values = np.asarray(params.critic["values"])
    earned = (1 - _GAMMA**15) / (1 - _GAMMA)
    allowed = earned + _GAMMA**15 * values
    gap = np.abs(pool.next_value_untruncated[pool.truncated][:, None] - allowed).min(axis=1)
    assert pool.truncated.any() and gap.max() < 1e-4


def test_chains_begin_at_random_phases_or_all_at_a_reset() -> None:
    env = random_tables(None)
    clock = tabular.from_arrays(
        np.ones((1, 2, 1)), np.ones((1, 2, 1)), np.zeros((1, 2, 1), bool), [1], time_limit=40
    )
    scattered = collect_pool(clock, *actor_critic(clock, "table"), _plan(chains=64, steps=40))
    together = collect_pool(
        clock, *actor_critic(clock, "table"), _plan(chains=64, steps=40, synchronised=True)
    )
    first_end = scattered.truncated.argmax(axis=0)
    assert len(np.unique(first_end)) > 20 and abs(first_end.mean() - 19.5) < 6
    assert (together.truncated.argmax(axis=0) == 39).all()
    assert env.time_limit is None and not _device_pool(None).truncated.any()


def test_large_pools_live_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    small = _device_pool()
    monkeypatch.setattr(pools, "_IN_MEMORY", 100)
    large = _device_pool()
    assert isinstance(large.reward, np.memmap)
    np.testing.assert_array_equal(small.reward, large.reward)


def test_scaled_rewards_are_scaled_in_the_pool_and_past_the_limit() -> None:
    raw, scaled = _device_pool(), _device_pool(reward_scale=2.0)
    np.testing.assert_allclose(scaled.reward, raw.reward / 2, rtol=1e-6)


def _counting() -> gymnasium.Env:
    return TimeLimit(Clock(), 7)


@pytest.mark.parametrize("chains", [3, 5])
def test_host_chains_have_no_filler_rows_however_few_envs_run(chains: int) -> None:
    env = resolve(_counting)
    policy, params = actor_critic(env, "2")
    plan = _plan(chains=chains, steps=30, envs=2, ahead=0)
    pool = collect_pool(env, policy, params, plan)
    seen = pool.observation[..., 0]
    assert pool.reward.shape == (30, chains)
    # Every row is one step further in the episode than the one before, or the first of the next.
    after = np.where(pool.truncated[:-1], 0, seen[:-1] + 1)
    np.testing.assert_array_equal(seen[1:], after)
    assert pool.truncated.mean() == pytest.approx(1 / 7, abs=0.05)
    np.testing.assert_allclose(
        pool.next_value[pool.truncated],
        np.asarray(policy.value(params, jax.numpy.full((1, 1), 7.0)))[0],
        rtol=1e-5,
    )
