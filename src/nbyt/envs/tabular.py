"""Environments that are tables of numbers: run on the device, with the exact tables kept.

States are numbered. For every state and action `outcomes` lists what can come of it: with which
probability, which next state and which reward, and whether the episode ends. The same next state
may come with several rewards. The outcomes are what an exact calculation needs.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import index
from typing import Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Discrete, Space
from jaxtyping import Bool, Float, Int

from nbyt.envs.protocol import Transition
from nbyt.errors import EnvUsageError

_TOLERANCE = 1e-6


class OutcomeTable(NamedTuple):
    """The K outcomes of each state and action, the most probable first.

    An outcome is a next state, a reward and whether the episode ends; a next state may have
    several. Where there are fewer than K, zeros fill the row.
    """

    probability: Float[np.ndarray, "S A K"]
    state: Int[np.ndarray, "S A K"]
    reward: Float[np.ndarray, "S A K"]
    terminated: Bool[np.ndarray, "S A K"]

    def by_state(self, weight: Float[np.ndarray, "S A K"]) -> Float[np.ndarray, "S A S"]:
        """Add up `weight` over the outcomes that lead to each next state."""
        states, actions, width = self.state.shape
        row = np.arange(states * actions)[:, None] * states
        cell = row + self.state.reshape(-1, width)
        made = np.bincount(cell.ravel(), weight.ravel(), states * actions * states)
        return made.reshape(states, actions, states)


class Listed(NamedTuple):
    """Outcomes in a row; pair is state x actions + action."""

    pair: Int[np.ndarray, " O"]
    probability: Float[np.ndarray, " O"]
    state: Int[np.ndarray, " O"]
    reward: Float[np.ndarray, " O"]
    terminated: Bool[np.ndarray, " O"]


def listed(outcomes: Any) -> tuple[Listed, int, int]:
    """Read `outcomes[state][action]`, lists of (probability, next state, reward, terminated).

    Returns them with the number of states and of actions. Raises LookupError, TypeError or
    ValueError if they are anything else.
    """
    states, actions = len(outcomes), len(outcomes[0])
    rows = []
    for s in range(states):
        if not len(outcomes[s]) == actions > 0:
            raise ValueError(f"state {s} has {len(outcomes[s])} actions, state 0 has {actions}")
        for a in range(actions):
            for probability, after, reward, terminated in outcomes[s][a]:
                one = float(probability), index(after), float(reward), bool(terminated)
                rows.append((s * actions + a, *one))
    kinds = (int, float, int, float, bool)
    columns: Any = zip(*rows, strict=True) if rows else [()] * len(kinds)
    arrays: Any = map(np.array, columns, kinds)
    return Listed(*arrays), states, actions


def faults(rows: Listed, states: int, actions: int) -> list[str]:
    """Say what is wrong with the numbers of listed outcomes."""
    found = []
    if not np.isfinite(rows.reward).all():
        found.append("reward has values that are not finite")
    outside = rows.state[(rows.state < 0) | (rows.state >= states)]
    if len(outside):
        found.append(f"next state {outside[0]} is not one of 0 to {states - 1}")
    total = np.bincount(rows.pair, rows.probability, states * actions)
    wrong = ~np.isclose(total, 1, rtol=0, atol=_TOLERANCE)
    wrong[rows.pair[rows.probability < 0]] = True
    if wrong.any():
        s, a = divmod(int(wrong.argmax()), actions)
        found.append(f"state {s}, action {a} has no probabilities summing to 1")
    return found


def law_faults(name: str, law: Float[np.ndarray, "..."]) -> list[str]:
    """Say whether a table's rows are not probabilities."""
    total = np.atleast_1d(law).sum(axis=-1)
    if (law < 0).any() or not np.allclose(total, 1, rtol=0, atol=_TOLERANCE):
        return [f"{name} has rows that are not probabilities summing to 1"]
    return []


def merged(rows: Listed) -> Listed:
    """Add up the probabilities of equal outcomes; sort by state, action, next state and reward.

    So a seed draws the same in whatever order the outcomes were listed.
    """
    rows = _taken(rows, np.lexsort((rows.terminated, rows.reward, rows.state, rows.pair)))
    named = rows.pair, rows.state, rows.reward, rows.terminated
    new = np.append(True, np.any([part[1:] != part[:-1] for part in named], axis=0))
    total = np.bincount(np.cumsum(new) - 1, rows.probability)
    return _taken(rows, new)._replace(probability=total)


def packed(rows: Listed, states: int, actions: int) -> OutcomeTable:
    """Put outcomes into a table, the most probable first and without impossible ones."""
    found = _taken(rows, rows.probability > 0)
    found = _taken(found, np.lexsort((-found.probability, found.pair)))
    column = np.arange(len(found.pair)) - np.searchsorted(found.pair, found.pair)
    place, shape = (found.pair, column), (states * actions, int(column.max()) + 1)
    tables = [np.zeros(shape, part.dtype) for part in found[1:]]
    for table, part in zip(tables, found[1:], strict=True):
        table[place] = part
    return OutcomeTable(*(table.reshape(states, actions, -1) for table in tables))


def _taken(rows: Listed, chosen: np.ndarray) -> Listed:
    return Listed(*(part[chosen] for part in rows))


_ARRAYS = "give transition, reward, terminated as [S, A, S] and start as [S]"
_LISTS = (
    "give outcomes[state][action], both numbered from 0, as lists of (probability, next state, "
    "reward, terminated), and start as [S]"
)


class TabularState(NamedTuple):
    """The state's number and the steps made in this episode."""

    number: jax.Array
    time: jax.Array


class _Draws(NamedTuple):
    """The outcomes as a step draws them: K numbers to look at, in single precision."""

    below: np.ndarray  # [S, A, K] cumulative probability up to and including each outcome
    state: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray


@dataclass(frozen=True, eq=False)
class TabularEnv:
    """A finite MDP as a `DeviceEnv`. Made by `from_arrays`, `from_outcomes` or `find`."""

    id: str
    outcomes: OutcomeTable
    start: Float[np.ndarray, " S"]
    time_limit: int | None = None

    @property
    def transition(self) -> Float[np.ndarray, "S A S"]:
        """Return the probability of each next state, with whatever reward and end."""
        return self.outcomes.by_state(self.outcomes.probability)

    @property
    def observation_space(self) -> Space:
        """Return the numbers of the states."""
        return Discrete(self.outcomes.state.shape[0])

    @property
    def action_space(self) -> Space:
        """Return the numbers of the actions."""
        return Discrete(self.outcomes.state.shape[1])

    def reset(self, key: jax.Array) -> tuple[TabularState, jax.Array]:
        """Return a start state and its number."""
        below = jnp.asarray(_cumulative(self.start), jnp.float32)
        number = _draw(key, below)
        return TabularState(number, jnp.int32(0)), number

    def step(self, key: jax.Array, state: TabularState, action: jax.Array) -> Transition:
        """Return the transition that `action` causes; no reset."""
        draws = jax.tree.map(lambda leaf: jnp.asarray(leaf)[state.number, action], self._draws)
        chosen = _draw(key, draws.below)
        number, time = draws.state[chosen], state.time + 1
        terminated = draws.terminated[chosen]
        truncated = jnp.bool_(False)
        if self.time_limit is not None:
            truncated = (time >= self.time_limit) & ~terminated
        return Transition(
            TabularState(number, time), number, draws.reward[chosen], terminated, truncated
        )

    @cached_property
    def _draws(self) -> _Draws:
        made = self.outcomes
        return _Draws(
            _cumulative(made.probability).astype(np.float32),
            made.state.astype(np.int32),
            made.reward.astype(np.float32),
            made.terminated,
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
    """Build the env of the tables [S, A, S], [S, A, S], [S, A, S] and [S]."""
    try:
        transition, reward = np.asarray(transition, float), np.asarray(reward, float)
        terminated, start = np.asarray(terminated, bool), np.asarray(start, float)
    except (TypeError, ValueError) as error:
        raise _refused([f"not tables of numbers: {error}"], id, _ARRAYS) from error
    found = _table_faults(transition, reward, terminated, start) + _limit_faults(time_limit)
    if found:
        raise _refused(found, id, _ARRAYS)
    states, actions, _ = transition.shape
    s, a, after = place = np.nonzero(transition)
    rows = Listed(s * actions + a, transition[place], after, reward[place], terminated[place])
    return TabularEnv(id, packed(rows, states, actions), start, time_limit)


def from_outcomes(
    outcomes: Any, start: Any, *, time_limit: int | None = None, id: str = "tabular:outcomes"
) -> TabularEnv:
    """Build the env of lists of outcomes, such as a toy-text env of Gymnasium has in its `P`.

    outcomes[state][action] is a list of (probability, next state, reward, terminated). The next
    state may be listed more than once, with other rewards or ends; equal outcomes are merged.
    """
    try:
        rows, states, actions = listed(outcomes)
        start = np.asarray(start, float)
    except (LookupError, OverflowError, TypeError, ValueError) as error:
        raise _refused([f"not lists of outcomes: {error!r}"], id, _LISTS) from error
    found = faults(rows, states, actions) + law_faults("start", start) + _limit_faults(time_limit)
    if start.shape != (states,):
        found.append(f"start has shape {start.shape}, not [{states}]")
    if found:
        raise _refused(found, id, _LISTS)
    return TabularEnv(id, packed(merged(rows), states, actions), start, time_limit)


@lru_cache(maxsize=64)
def find(name: str) -> TabularEnv | None:
    """Find the Gymnasium env of that name as tables, or None where it has none."""
    spec = gymnasium.registry.get(name)
    if spec is None or "toy_text" not in str(spec.entry_point):
        return None
    env = gymnasium.make(name).unwrapped
    outcomes, start = getattr(env, "P", None), getattr(env, "initial_state_distrib", None)
    # A fickle passenger of the taxi changes the destination behind the table's back.
    if outcomes is None or start is None or getattr(env, "fickle_passenger", False):
        return None
    return from_outcomes(outcomes, start, time_limit=spec.max_episode_steps, id=f"tabular:{name}")


def names() -> list[str]:
    """List the envs of Gymnasium that may have tables."""
    registered = gymnasium.registry.items()
    return [name for name, spec in registered if "toy_text" in str(spec.entry_point)]


def _draw(key: jax.Array, below: jax.Array) -> jax.Array:
    """Draw an index with the cumulative probabilities `below`."""
    luck = jax.random.uniform(key)
    # The last index also takes what rounding leaves between the last cumulative value and 1.
    return jnp.minimum(jnp.sum(luck >= below), below.shape[0] - 1).astype(jnp.int32)


def _cumulative(law: np.ndarray) -> np.ndarray:
    """Return cumulative probabilities that end in exactly 1, so nothing impossible is drawn."""
    below = np.cumsum(law, axis=-1)
    return below / below[..., -1:]


def _table_faults(
    transition: np.ndarray, reward: np.ndarray, terminated: np.ndarray, start: np.ndarray
) -> list[str]:
    found = []
    shape = transition.shape
    if transition.ndim != 3 or shape[0] != shape[2] or 0 in shape:
        found.append(f"transition has shape {shape}, not [S, A, S]")
    if reward.shape != shape or terminated.shape != shape or start.shape != shape[:1]:
        found.append(
            f"shapes differ: transition {shape}, reward {reward.shape}, "
            f"terminated {terminated.shape}, start {start.shape}"
        )
    if not np.isfinite(reward).all():
        found.append("reward has values that are not finite")
    return found + law_faults("transition", transition) + law_faults("start", start)


def _limit_faults(time_limit: Any) -> list[str]:
    if time_limit is None or (type(time_limit) is int and time_limit >= 1):
        return []
    return [f"time_limit is {time_limit!r}, not a whole number of at least 1"]


def _refused(found: list[str], id: str, fix: str) -> EnvUsageError:
    return EnvUsageError("; ".join(found), where=id, fix=fix)
