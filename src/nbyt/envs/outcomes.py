"""What can come of every action in every state: the one form that tables are kept in."""

from operator import index
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

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
