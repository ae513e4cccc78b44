"""CartPole as it is trained on, and as it is not: other starts, and other dynamics."""

from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from nbyt.collect.evaluate import episode_returns, start_episodes
from nbyt.envs.gymnax_suite import GymnaxEnv, find
from nbyt.envs.protocol import Transition
from nbyt.policy.actor_critic import Params
from nbyt.policy.q_policy import QPolicy
from nbyt.rng import stream

STARTS = "wide starts"

# How far starts may be from the middle: position, velocity, angle, angular velocity. Usually all
# of them are within 0.05; an episode ends at 2.4 and 0.21.
WIDE = (2.0, 1.0, 0.15, 1.0)

# A state was visited if one met in training is within a twentieth of these bounds' widths.
NEAR = tuple(0.1 * bound for bound in WIDE)

# gymnax keeps the products of masses and lengths as parameters of their own.
DYNAMICS: dict[str, dict[str, float]] = {
    "pole 2 x as long": {"length": 1.0, "polemass_length": 0.1},
    "pole 1/4 as long": {"length": 0.125, "polemass_length": 0.0125},
    "gravity 3 x as strong": {"gravity": 29.4},
    "force 1/4 as strong": {"force_mag": 2.5},
}
HOME = "as trained"
CONDITIONS = (HOME, STARTS, *DYNAMICS)


class CartState(NamedTuple):
    """The number of the condition, and the state of its env."""

    condition: jax.Array
    inner: Any


class Carts:
    """Carts under all conditions, each episode under one of them, drawn at random.

    One env for all, because every env that is evaluated has a program of its own to compile.
    """

    def __init__(self) -> None:
        base = home()
        self.id = f"{base.id}, {len(CONDITIONS)} conditions"
        self.observation_space, self.action_space = base.observation_space, base.action_space
        self.time_limit = base.time_limit
        self._envs = tuple(base.changed(**DYNAMICS.get(words, {})) for words in CONDITIONS)

    def reset(self, key: jax.Array) -> tuple[CartState, jax.Array]:
        """A condition, a start state under it and its observation."""
        condition = jax.random.randint(stream(key, "condition"), (), 0, len(CONDITIONS))
        inner, observation = self._envs[0].reset(key)
        bounds = jnp.asarray(WIDE)
        wide = jax.random.uniform(key, bounds.shape, minval=-bounds, maxval=bounds)
        begun = jnp.where(condition == CONDITIONS.index(STARTS), wide, observation)
        x, x_dot, theta, theta_dot = begun
        inner = inner.replace(x=x, x_dot=x_dot, theta=theta, theta_dot=theta_dot)
        return CartState(condition, inner), begun

    def step(self, key: jax.Array, state: CartState, action: jax.Array) -> Transition:
        """The transition that `action` makes; no reset."""
        steps = [env.step for env in self._envs]
        after = jax.lax.switch(state.condition, steps, key, state.inner, action)
        return after._replace(state=CartState(state.condition, after.state))


def home() -> GymnaxEnv:
    """The env that is trained on."""
    found = find("CartPole-v1")
    assert found is not None
    return found


@lru_cache(maxsize=1)
def carts() -> Carts:
    """The env of all conditions: one object, so that its program is shared."""
    return Carts()


class Begun(NamedTuple):
    """How episodes begin: the condition's number and the first state of each."""

    condition: Int[np.ndarray, " episodes"]
    state: Float[np.ndarray, "episodes 4"]


def returns(policy: QPolicy, params: Params, count: int) -> Float[np.ndarray, " episodes"]:
    """Returns of whole episodes under all conditions; those of `begun`, in its order."""
    each = [episode_returns(carts(), policy, params, seed).returns for seed in range(count)]
    return np.concatenate(each)


@lru_cache(maxsize=2)
def begun(count: int) -> Begun:
    """How the episodes of `returns` begin: alike for every policy."""
    runners = [start_episodes(carts(), seed) for seed in range(count)]
    conditions = [np.asarray(runner.state.condition) for runner in runners]
    states = [np.asarray(runner.observation) for runner in runners]
    return Begun(np.concatenate(conditions), np.concatenate(states))


def visited(
    states: Float[np.ndarray, "rows 4"], met: Float[np.ndarray, "others 4"]
) -> Bool[np.ndarray, " rows"]:
    """Whether each state has one near it, in all four numbers, among those met."""
    apart, _ = cKDTree(met / NEAR).query(states / NEAR, p=np.inf, distance_upper_bound=1.0)
    return np.isfinite(apart)
