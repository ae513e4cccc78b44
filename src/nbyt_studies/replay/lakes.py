"""Frozen lakes of many maps, seen whole: a network can learn what a hole is, on any of them.

An observation is where the holes are, where the goal is, and where the agent stands. Ice is not
slippery, so a greedy policy's way is known from its choice in every cell.
"""

from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from jaxtyping import Bool, Float, Int

from nbyt.envs.protocol import Transition
from nbyt.policy.actor_critic import Params
from nbyt.policy.q_policy import QPolicy
from nbyt.rng import numpy_stream

SIDE = 4
CELLS = SIDE * SIDE
HOLES = 4
_MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))  # left, down, right, up, as in FrozenLake


class Maps(NamedTuple):
    """M maps: where holes are, the goal's cell, and the cells from which it can be reached."""

    holes: Bool[np.ndarray, "M cells"]
    goal: Int[np.ndarray, " M"]
    starts: Bool[np.ndarray, "M cells"]


class LakeState(NamedTuple):
    """The map's number, the agent's cell, and the steps made in this episode."""

    map: jax.Array
    cell: jax.Array
    time: jax.Array


class Lakes:
    """Some maps as a `DeviceEnv`: each episode on one of them, from a cell that has a way."""

    # Twice what any way without a detour needs, so that no good policy is cut.
    time_limit: int | None = 2 * CELLS

    def __init__(self, words: str, maps: Maps) -> None:
        self.id = f"lakes:{words}"
        self.maps = maps
        self.observation_space: Space = Box(0.0, 1.0, (3 * CELLS,), np.float32)
        self.action_space: Space = Discrete(len(_MOVES))
        self._pairs = np.argwhere(maps.starts).astype(np.int32)

    def reset(self, key: jax.Array) -> tuple[LakeState, jax.Array]:
        """A map and a cell, all pairs alike."""
        pair = jnp.asarray(self._pairs)[jax.random.randint(key, (), 0, len(self._pairs))]
        state = LakeState(pair[0], pair[1], jnp.int32(0))
        return state, self._seen(state)

    def step(self, key: jax.Array, state: LakeState, action: jax.Array) -> Transition:
        """The transition that `action` makes; no reset."""
        del key
        cell = jnp.asarray(NEXT)[state.cell, action]
        won = cell == jnp.asarray(self.maps.goal)[state.map]
        terminated = won | jnp.asarray(self.maps.holes)[state.map, cell]
        after = LakeState(state.map, cell, state.time + 1)
        truncated = (after.time >= 2 * CELLS) & ~terminated
        return Transition(after, self._seen(after), won.astype(jnp.float32), terminated, truncated)

    def _seen(self, state: LakeState) -> jax.Array:
        holes, goal = (jnp.asarray(one)[state.map] for one in (self.maps.holes, self.maps.goal))
        places = jax.nn.one_hot(jnp.stack([goal, state.cell]), CELLS)
        return jnp.concatenate([holes.astype(jnp.float32), places.ravel()])


def _next_cells() -> Int[np.ndarray, "cells actions"]:
    rows, columns = np.divmod(np.arange(CELLS), SIDE)
    moved = [
        np.clip(rows + down, 0, SIDE - 1) * SIDE + np.clip(columns + right, 0, SIDE - 1)
        for right, down in _MOVES
    ]
    return np.stack(moved, axis=1).astype(np.int32)


NEXT = _next_cells()


def sights(maps: Maps) -> Float[np.ndarray, "M cells seen"]:
    """What is seen on every map from every cell: holes, goal, position."""
    one_hot = np.eye(CELLS, dtype=np.float32)
    shape = (len(maps.goal), CELLS, CELLS)
    parts = (maps.holes[:, None], one_hot[maps.goal][:, None], one_hot[None])
    return np.concatenate([np.broadcast_to(part, shape) for part in parts], -1, dtype=np.float32)


def success(maps: Maps, policy: QPolicy, params: Params) -> float:
    """The share of all maps and starts from which the greedy policy reaches the goal."""
    values = policy.values(params, jnp.asarray(sights(maps)))
    return followed(maps, np.asarray(values).argmax(-1))


def followed(maps: Maps, actions: Int[np.ndarray, "M cells"]) -> float:
    """The share of all maps and starts from which these actions lead to the goal."""
    after = np.take_along_axis(np.broadcast_to(NEXT, (*actions.shape, 4)), actions[..., None], -1)
    after, own = after[..., 0], np.arange(CELLS)
    goal = own == maps.goal[:, None]
    after = np.where(goal | maps.holes, own, after)  # the episode is over there
    at = np.broadcast_to(own, actions.shape)
    for _ in range(CELLS):  # a way that is longer goes in a circle
        at = np.take_along_axis(after, at, axis=1)
    return float((at == maps.goal[:, None])[maps.starts].mean())


@lru_cache(maxsize=4)
def drawn(count: int, seed: int = 0) -> Maps:
    """So many different maps; a longer list begins with the same ones."""
    generator = numpy_stream(seed, "lakes")
    found: dict[bytes, tuple[np.ndarray, int, np.ndarray]] = {}
    while len(found) < count:
        order = generator.permutation(CELLS)
        holes = np.isin(np.arange(CELLS), order[:HOLES])
        goal = int(order[HOLES])
        starts = _starts(holes, goal)
        # Half of the cells or more: a goal shut in would leave little to learn.
        if starts.sum() >= CELLS // 2:
            found.setdefault(holes.tobytes() + bytes([goal]), (holes, goal, starts))
    holes, goals, starts = zip(*found.values(), strict=True)
    return Maps(np.stack(holes), np.array(goals, np.int32), np.stack(starts))


def _starts(holes: np.ndarray, goal: int) -> np.ndarray:
    """Cells, the goal apart, from which there is a way to it."""
    reached = np.arange(CELLS) == goal
    for _ in range(CELLS):
        reached |= reached[NEXT].any(axis=1) & ~holes
    return reached & (np.arange(CELLS) != goal)


def part(maps: Maps, first: int, last: int) -> Maps:
    """The maps from one number up to another."""
    return Maps(*(array[first:last] for array in maps))
