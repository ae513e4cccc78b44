"""Rollouts: keys of their own for every env, the value that follows a step, and advantages."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toys
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.collect.rollout import Rollout, action_noise, env_keys, gae, next_value, next_values


def test_keys_of_an_env_do_not_depend_on_how_many_there_are() -> None:
    key = jax.random.key(9)
    policy, _ = toys.actor_critic(toys.random_tables())
    for role in ("env.step", "env.reset"):
        few, many = (jax.random.key_data(env_keys(key, role, 6, n)) for n in (4, 8))
        np.testing.assert_array_equal(few, many[:, :4])
    few, many = (action_noise(policy.head, key, 6, n) for n in (4, 8))
    np.testing.assert_array_equal(few, many[:, :4])


def test_the_value_that_follows_a_step_knows_how_the_step_ended() -> None:
    """Env 0 goes on, env 1 dies in its first step, env 2 is truncated in its last."""
    value = jnp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    last, final = jnp.array([7.0, 8.0, 9.0]), jnp.array([[0.0, 0.0, 0.0], [0.0, 0.0, 10.0]])
    terminated = jnp.array([[False, True, False], [False, False, False]])
    truncated = jnp.array([[False, False, False], [False, False, True]])
    found = next_values(value, last, final, terminated, truncated)
    np.testing.assert_array_equal(found, [[4.0, 0.0, 6.0], [7.0, 8.0, 10.0]])


jitted_gae = jax.jit(gae)


def random_rollout(seed: int, steps: int, envs: int, ends: float = 0.3, fillers: bool = False):
    """NumPy arrays of a rollout with deaths, time limits and, if asked, filler rows after them."""
    generator = np.random.default_rng(seed)
    draw = generator.uniform(size=(steps, envs))
    terminated, truncated = draw < ends / 2, (draw >= ends / 2) & (draw < ends)
    valid = np.ones((steps, envs), bool)
    if fillers:
        for t in range(1, steps):
            valid[t] = ~(terminated[t - 1] | truncated[t - 1])
            terminated[t] &= valid[t]
            truncated[t] &= valid[t]
    reward, value, final = generator.normal(size=(3, steps, envs)) * 3
    return Rollout(
        observation=np.zeros((steps, envs, 1)),
        action=np.zeros((steps, envs), np.int32),
        log_prob=np.zeros((steps, envs)),
        value=value,
        reward=reward,
        terminated=terminated,
        truncated=truncated,
        valid=valid,
        final_value=np.where(truncated, final, 0.0),
        last_value=generator.normal(size=envs),
    )


def on_device(rollout: Rollout) -> Rollout:
    """The rollout as JAX arrays, in the precision that is switched on."""
    return jax.tree.map(jnp.asarray, rollout)


def obvious(rollout: Rollout, gamma: float, lam: float) -> np.ndarray:
    """Sum over k of (gamma lam)^k delta_{t+k}, up to the episode's or the rollout's end: O(T^2)."""
    steps, envs = rollout.reward.shape
    advantage = np.zeros((steps, envs))
    for n in range(envs):
        for t in range(steps):
            for k in range(steps - t):
                row = t + k, n
                if not rollout.valid[row]:
                    break
                after = rollout.last_value[n] if t + k + 1 == steps else rollout.value[t + k + 1, n]
                if rollout.truncated[row]:
                    after = rollout.final_value[row]
                if rollout.terminated[row]:
                    after = 0.0
                delta = rollout.reward[row] + gamma * after - rollout.value[row]
                advantage[t, n] += (gamma * lam) ** k * delta
                if rollout.terminated[row] or rollout.truncated[row]:
                    break
    return advantage


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(1, 1), (1, 4), (6, 1), (9, 3)]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.booleans(),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_gae_is_its_definition(seed, shape, ends, fillers, gamma, lam) -> None:
    rollout = random_rollout(seed, *shape, ends, fillers)
    with jax.enable_x64(True):
        found = np.asarray(jitted_gae(on_device(rollout), gamma, lam))
    assert found.dtype == np.float64
    expected = obvious(rollout, gamma, lam)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert (found[~rollout.valid] == 0).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("shape", [(1, 1), (16, 4), (64, 2)])
def test_gae_is_that_of_stable_baselines3(seed, shape) -> None:
    """SB3 counts a time limit as an end, and adds gamma V(final observation) to its reward."""
    pytest.importorskip("stable_baselines3")
    import torch
    from gymnasium.spaces import Box, Discrete
    from stable_baselines3.common.buffers import RolloutBuffer

    steps, envs = shape
    gamma, lam = 0.97, 0.9
    rollout = random_rollout(seed, steps, envs)
    reward = rollout.reward + gamma * rollout.final_value
    ended = rollout.terminated | rollout.truncated
    buffer = RolloutBuffer(
        steps, Box(-1, 1, (1,)), Discrete(2), gae_lambda=lam, gamma=gamma, n_envs=envs
    )
    begins = np.concatenate([np.zeros((1, envs)), ended[:-1]])
    for t in range(steps):
        value = torch.as_tensor(rollout.value[t], dtype=torch.float32)
        buffer.add(
            np.zeros((envs, 1)), np.zeros((envs, 1)), reward[t], begins[t], value, torch.zeros(envs)
        )
    last = torch.as_tensor(rollout.last_value, dtype=torch.float32)
    buffer.compute_returns_and_advantage(last, ended[-1])
    with jax.enable_x64(True):
        found = np.asarray(jitted_gae(on_device(rollout), gamma, lam))
    np.testing.assert_allclose(found, buffer.advantages, rtol=1e-6, atol=4e-6)
    value = on_device(
        jax.tree.map(lambda x: x.astype(np.float32) if x.dtype == float else x, rollout)
    )
    single = np.asarray(jitted_gae(value, gamma, lam))
    np.testing.assert_allclose(single, buffer.advantages, rtol=1e-6, atol=4e-6)
    np.testing.assert_allclose(single + value.value, buffer.returns, rtol=1e-6, atol=4e-6)


def chain(end: str, *, final_value: float) -> Rollout:
    """Five steps of reward 1 that end in the last by death, by time limit or not at all."""
    blank = np.zeros((5, 1))
    last = np.arange(5)[:, None] == 4
    return on_device(
        Rollout(
            observation=blank[..., None],
            action=blank,
            log_prob=blank,
            value=blank,
            reward=np.ones((5, 1)),
            terminated=last & (end == "death"),
            truncated=last & (end == "limit"),
            valid=np.ones((5, 1), bool),
            final_value=np.where(last, final_value, 0.0),
            last_value=np.array([100.0]),
        )
    )


@pytest.mark.parametrize(
    ("end", "beyond"), [("death", 0.0), ("limit", 7.0), ("none", 100.0)], ids=str
)
def test_a_limit_bootstraps_from_the_final_observation_and_a_death_from_nothing(
    end, beyond
) -> None:
    """With lambda = 1 and V = 0 the advantage is the return: a geometric series and a tail."""
    gamma = 0.9
    left = 5 - np.arange(5)
    expected = (1 - gamma**left) / (1 - gamma) + gamma**left * beyond
    found = gae(chain(end, final_value=7.0), gamma, 1.0)[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_next_value_of_each_kind_of_row() -> None:
    found = [next_value(chain(end, final_value=7.0))[-1, 0] for end in ("death", "limit", "none")]
    np.testing.assert_array_equal(found, [0.0, 7.0, 100.0])


def test_nothing_passes_through_a_filler_row() -> None:
    """Whatever a filler row holds, no advantage changes by a bit."""
    rollout = random_rollout(4, 12, 3, ends=0.6, fillers=True)
    assert (~rollout.valid).sum() > 5
    noise = np.random.default_rng(9).normal(size=rollout.reward.shape) * 1e6
    spoilt = rollout._replace(
        reward=np.where(rollout.valid, rollout.reward, noise),
        value=np.where(rollout.valid, rollout.value, noise),
    )
    first, second = (gae(on_device(r), 0.99, 0.95) for r in (rollout, spoilt))
    np.testing.assert_array_equal(first, second)
