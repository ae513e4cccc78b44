"""Environments that are tables of numbers: run on the device, with the exact tables kept.

States are numbered; `transition[s, a, s']` is the probability of s' after action a in s, `reward`
and `terminated` belong to that same step. The tables are what an exact calculation needs.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Discrete, Space

from nbyt.envs.protocol import Transition
from nbyt.errors import EnvUsageError

_TOLERANCE = 1e-6


class TabularState(NamedTuple):
    """The state's number and the steps made in this episode."""

    number: jax.Array
    time: jax.Array


class _Outcomes(NamedTuple):
    """For every (s, a) its K possible outcomes, so that a draw looks at K numbers and not at S."""

    below: np.ndarray  # [S, A, K] cumulative probability up to and including each outcome
    state: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray


@dataclass(frozen=True, eq=False)
class TabularEnv:
    """A finite MDP as a `DeviceEnv`. Made by `from_arrays` or `find`."""

    id: str
    transition: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    start: np.ndarray
    time_limit: int | None = None
    _outcomes: _Outcomes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_outcomes", _outcomes(self))

    @property
    def observation_space(self) -> Space:
        """The numbers of the states."""
        return Discrete(self.transition.shape[0])

    @property
    def action_space(self) -> Space:
        """The numbers of the actions."""
        return Discrete(self.transition.shape[1])

    def reset(self, key: jax.Array) -> tuple[TabularState, jax.Array]:
        """A start state and its number."""
        below = jnp.asarray(_cumulative(self.start), jnp.float32)
        number = _draw(key, below)
        return TabularState(number, jnp.int32(0)), number

    def step(self, key: jax.Array, state: TabularState, action: jax.Array) -> Transition:
        """The transition that `action` makes; no reset."""
        outcomes = jax.tree.map(
            lambda leaf: jnp.asarray(leaf)[state.number, action], self._outcomes
        )
        chosen = _draw(key, outcomes.below)
        number, time = outcomes.state[chosen], state.time + 1
        terminated = outcomes.terminated[chosen]
        truncated = jnp.bool_(False)
        if self.time_limit is not None:
            truncated = (time >= self.time_limit) & ~terminated
        return Transition(
            TabularState(number, time), number, outcomes.reward[chosen], terminated, truncated
        )


def from_arrays(
    transition: Any,
    reward: Any,
    terminated: Any,
    start: Any,
    *,
    time_limit: int | None = None,
    id: str = "tabular:arrays",
) -> TabularEnv:
    """The environment of the tables [S, A, S], [S, A, S], [S, A, S] and [S]."""
    try:
        transition, reward = np.asarray(transition, float), np.asarray(reward, float)
        terminated, start = np.asarray(terminated, bool), np.asarray(start, float)
    except (TypeError, ValueError) as error:
        raise _refused([f"not tables of numbers: {error}"], id) from error
    faults = _faults(transition, reward, terminated, start)
    if time_limit is not None and (type(time_limit) is not int or time_limit < 1):
        faults.append(f"time_limit is {time_limit!r}, not a whole number of at least 1")
    if faults:
        raise _refused(faults, id)
    return TabularEnv(id, transition, reward, terminated, start, time_limit)


@lru_cache(maxsize=64)
def find(name: str) -> TabularEnv | None:
    """The Gymnasium env of that name as tables, or None where it has none."""
    spec = gymnasium.registry.get(name)
    if spec is None or "toy_text" not in str(spec.entry_point):
        return None
    env = gymnasium.make(name).unwrapped
    table = getattr(env, "P", None)
    start = getattr(env, "initial_state_distrib", None)
    if table is None or start is None:
        return None
    states, actions = len(table), len(table[0])
    transition = np.zeros((states, actions, states))
    reward, terminated = np.zeros_like(transition), np.zeros(transition.shape, bool)
    for s in range(states):
        for a in range(actions):
            for probability, after, gain, ended in table[s][a]:
                known = (reward[s, a, after], terminated[s, a, after])
                if transition[s, a, after] and known != (gain, ended):
                    return None  # two ways to one state with two rewards fit no table [S, A, S]
                transition[s, a, after] += probability
                reward[s, a, after], terminated[s, a, after] = gain, ended
    return from_arrays(
        transition,
        reward,
        terminated,
        start,
        time_limit=spec.max_episode_steps,
        id=f"tabular:{name}",
    )


def _draw(key: jax.Array, below: jax.Array) -> jax.Array:
    """An index drawn with the cumulative probabilities `below`."""
    luck = jax.random.uniform(key)
    # The last index also takes what rounding leaves between the last cumulative value and 1.
    return jnp.minimum(jnp.sum(luck >= below), below.shape[0] - 1).astype(jnp.int32)


def _cumulative(law: np.ndarray) -> np.ndarray:
    """Cumulative probabilities that end in exactly 1, so that nothing impossible is ever drawn."""
    below = np.cumsum(law, axis=-1)
    return below / below[..., -1:]


def _outcomes(env: TabularEnv) -> _Outcomes:
    states, actions, _ = env.transition.shape
    width = int((env.transition > 0).sum(axis=2).max())
    order = np.argsort(-env.transition, axis=2, kind="stable")[:, :, :width]
    s, a = np.arange(states)[:, None, None], np.arange(actions)[None, :, None]
    below = _cumulative(env.transition[s, a, order])
    return _Outcomes(
        below.astype(np.float32),
        order.astype(np.int32),
        env.reward[s, a, order].astype(np.float32),
        env.terminated[s, a, order],
    )


def _faults(
    transition: np.ndarray, reward: np.ndarray, terminated: np.ndarray, start: np.ndarray
) -> list[str]:
    faults = []
    shape = transition.shape
    if transition.ndim != 3 or shape[0] != shape[2] or 0 in shape:
        faults.append(f"transition has shape {shape}, not [S, A, S]")
    if reward.shape != shape or terminated.shape != shape or start.shape != shape[:1]:
        faults.append(
            f"shapes differ: transition {shape}, reward {reward.shape}, "
            f"terminated {terminated.shape}, start {start.shape}"
        )
    if not np.isfinite(reward).all():
        faults.append("reward has values that are not finite")
    for name, law in (("transition", transition), ("start", start)):
        total = np.atleast_1d(law).sum(axis=-1)
        if (law < 0).any() or not np.allclose(total, 1, rtol=0, atol=_TOLERANCE):
            faults.append(f"{name} has rows that are not probabilities summing to 1")
    return faults


def _refused(faults: list[str], id: str) -> EnvUsageError:
    return EnvUsageError(
        "; ".join(faults),
        where=id,
        fix="give transition, reward, terminated as [S, A, S] and start as [S]",
    )
