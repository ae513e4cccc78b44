"""Laws of minds: who acts and judges is a pool's only tie to a framework, here plain NumPy."""

from collections.abc import Callable
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from toys import actor_critic

from nbyt.collect.host import HostPolicy, StageHostPolicy
from nbyt.collect.pool import Pool, collect_host_pool, collect_pool
from nbyt.collect.rollout import action_noise
from nbyt.collect.segment import PoolPlan
from nbyt.envs import resolve
from nbyt.errors import EnvError
from nbyt.rng import stream

PLAN = PoolPlan(chains=5, steps=40, ahead=0, gamma=0.9, seed=3, envs=2)
LIMIT = 15


def cart_pole() -> gymnasium.Env:
    return TimeLimit(gymnasium.make("CartPole-v1").unwrapped, LIMIT)


def pendulum() -> gymnasium.Env:
    return TimeLimit(gymnasium.make("Pendulum-v1").unwrapped, LIMIT)


class PlainActor:
    """One hidden layer, and noise for every time."""

    def __init__(self, params: Any, noise: np.ndarray, bound: float | None) -> None:
        self._params, self._noise, self._bound = params, noise, bound

    def act(self, observation: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        output = forward(self._params.actor, observation)
        if self._bound is None:
            action = (output + self._noise[time]).argmax(axis=-1)
            return action, action
        action = output + np.exp(self._params.actor["log_std"]) * self._noise[time]
        return action, action.clip(-self._bound, self._bound)


class PlainPolicy:
    """The weights of an actor-critic, at work without it."""

    def __init__(self, params: Any, noise: Callable[..., np.ndarray], bound: float | None) -> None:
        self._params, self._noise, self._bound = jax.device_get(params), noise, bound

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> PlainActor:
        noise = self._noise(group, segment, steps, envs)
        return PlainActor(self._params, noise, self._bound)

    def values(self, observation: np.ndarray) -> np.ndarray:
        return forward(self._params.critic, observation)[..., 0]


def forward(network: Any, observation: np.ndarray) -> np.ndarray:
    (layer,) = network["layers"]
    hidden = np.tanh(observation @ layer["w"] + layer["b"])
    return hidden @ network["head"]["w"].T + network["head"]["b"]


@pytest.mark.parametrize(("make", "bound"), [(cart_pole, None), (pendulum, 2.0)])
def test_a_mind_in_numpy_makes_the_pool_of_the_policy_it_copies(make, bound) -> None:
    env = resolve(make)
    policy, params = actor_critic(env)
    key = stream(stream(jax.random.key(PLAN.seed), "pool"), "round", 0)

    def noise(group: int, segment: int | None, steps: int, envs: int) -> np.ndarray:
        here = stream(key, "group", group)
        luck = stream(here, "wander") if segment is None else stream(here, "segment", segment)
        return np.asarray(action_noise(policy.head, luck, steps, envs))

    host_policy = PlainPolicy(params, noise, bound)
    assert isinstance(host_policy, HostPolicy) and isinstance(
        StageHostPolicy(policy, params, key), HostPolicy
    )
    theirs, ours = (
        collect_pool(env, policy, params, PLAN),
        collect_host_pool(env, host_policy, PLAN),
    )
    assert (ours.terminated | ours.truncated).any()
    for name in Pool._fields:
        expected, found = getattr(theirs, name), getattr(ours, name)
        assert (expected.shape, expected.dtype) == (found.shape, found.dtype), name
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=name)


def after_cart_pole(env: Any, observation: np.ndarray, action: np.ndarray) -> np.ndarray:
    env.reset()
    env.state, env.steps_beyond_terminated = observation, None
    return env.step(int(action))[0]


def after_pendulum(env: Any, observation: np.ndarray, action: np.ndarray) -> np.ndarray:
    env.reset()
    env.state = np.array([np.arctan2(observation[1], observation[0]), observation[2]])
    return env.step(action.clip(-2, 2))[0]


@pytest.mark.parametrize(
    ("make", "bound", "after"), [(cart_pole, None, after_cart_pole), (pendulum, 2, after_pendulum)]
)
def test_following_is_the_minds_value_of_what_the_env_does_next(make, bound, after) -> None:
    """The env itself is the oracle: each row's state and action are played once more."""
    env = resolve(make)
    _, params = actor_critic(env)
    outputs = params.actor["head"]["b"].shape[0]

    def noise(group: int, segment: int | None, steps: int, envs: int) -> np.ndarray:
        luck = np.random.default_rng([group, 0 if segment is None else segment + 1])
        return luck.normal(size=(steps, envs, outputs)).astype(np.float32)

    host_policy = PlainPolicy(params, noise, bound)
    pool = collect_host_pool(env, host_policy, PLAN)
    assert pool.truncated.any() and pool.terminated.any() == (bound is None)
    one = make().unwrapped
    for place in np.ndindex(pool.reward.shape):
        seen = after(one, pool.observation[place], pool.action[place])
        expected = 0.0 if pool.terminated[place] else host_policy.values(seen[None, None])[0, 0]
        assert pool.next_value[place] == pytest.approx(expected, abs=1e-4)
    np.testing.assert_array_equal(pool.next_value_untruncated, pool.next_value)


def test_a_mind_that_gives_no_number_is_told_like_any_other_fault() -> None:
    env = resolve(cart_pole)
    _, params = actor_critic(env)
    broken = params._replace(
        critic={**params.critic, "head": {"w": np.full((1, 8), np.nan), "b": 0}}
    )
    host_policy = PlainPolicy(
        broken, lambda group, segment, steps, envs: np.zeros((steps, envs, 2)), None
    )
    with pytest.raises(EnvError, match="value that is not a finite number"):
        collect_host_pool(env, host_policy, PLAN)
