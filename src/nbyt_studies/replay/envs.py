"""CartPole and frozen lakes, as trained and as not: other starts, other dynamics, other maps."""

from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from nbyt.collect.evaluate import episode_returns, start_episodes
from nbyt.envs.gymnax_suite import GymnaxEnv, find
from nbyt.envs.protocol import Transition
from nbyt.policy.actor_critic import Params
from nbyt.policy.q_policy import QPolicy
from nbyt.rng import numpy_stream, stream

# Frozen lakes of many maps, seen whole: a network can learn what a hole is, on any of them.
#
# An observation is where the holes are, where the goal is, and where the agent stands. Ice is not
# slippery, so a greedy policy's way is known from its choice in every cell.

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
        """Draw a map and a cell, all pairs with equal probability."""
        pair = jnp.asarray(self._pairs)[jax.random.randint(key, (), 0, len(self._pairs))]
        state = LakeState(pair[0], pair[1], jnp.int32(0))
        return state, self._seen(state)

    def step(self, key: jax.Array, state: LakeState, action: jax.Array) -> Transition:
        """Return the transition that `action` makes; no reset."""
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


def observations(maps: Maps) -> Float[np.ndarray, "M cells seen"]:
    """Return the observations on every map from every cell: holes, goal, position."""
    one_hot = np.eye(CELLS, dtype=np.float32)
    shape = (len(maps.goal), CELLS, CELLS)
    parts = (maps.holes[:, None], one_hot[maps.goal][:, None], one_hot[None])
    return np.concatenate([np.broadcast_to(part, shape) for part in parts], -1, dtype=np.float32)


def success(maps: Maps, policy: QPolicy, params: Params) -> float:
    """Return the share of all maps and starts from which the greedy policy reaches the goal."""
    values = policy.values(params, jnp.asarray(observations(maps)))
    return followed(maps, np.asarray(values).argmax(-1))


def followed(maps: Maps, actions: Int[np.ndarray, "M cells"]) -> float:
    """Return the share of all maps and starts from which these actions lead to the goal."""
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
    """Draw so many different maps; a longer list begins with the same ones."""
    generator = numpy_stream(seed, "lakes")
    accepted: dict[bytes, tuple[np.ndarray, int, np.ndarray]] = {}
    while len(accepted) < count:
        order = generator.permutation(CELLS)
        holes = np.isin(np.arange(CELLS), order[:HOLES])
        goal = int(order[HOLES])
        starts = _starts(holes, goal)
        # Half of the cells or more: a goal shut in would leave little to learn.
        if starts.sum() >= CELLS // 2:
            accepted.setdefault(holes.tobytes() + bytes([goal]), (holes, goal, starts))
    holes, goals, starts = zip(*accepted.values(), strict=True)
    return Maps(np.stack(holes), np.array(goals, np.int32), np.stack(starts))


def _starts(holes: np.ndarray, goal: int) -> np.ndarray:
    reached = np.arange(CELLS) == goal
    for _ in range(CELLS):
        reached |= reached[NEXT].any(axis=1) & ~holes
    return reached & (np.arange(CELLS) != goal)


def part(maps: Maps, first: int, last: int) -> Maps:
    """Return the maps from one number up to another."""
    return Maps(*(array[first:last] for array in maps))


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
        """Draw a condition, a start state under it and its observation."""
        condition = jax.random.randint(stream(key, "condition"), (), 0, len(CONDITIONS))
        inner, observation = self._envs[0].reset(key)
        bounds = jnp.asarray(WIDE)
        wide = jax.random.uniform(key, bounds.shape, minval=-bounds, maxval=bounds)
        begun = jnp.where(condition == CONDITIONS.index(STARTS), wide, observation)
        x, x_dot, theta, theta_dot = begun
        inner = inner.replace(x=x, x_dot=x_dot, theta=theta, theta_dot=theta_dot)
        return CartState(condition, inner), begun

    def step(self, key: jax.Array, state: CartState, action: jax.Array) -> Transition:
        """Return the transition that `action` makes; no reset."""
        steps = [env.step for env in self._envs]
        after = jax.lax.switch(state.condition, steps, key, state.inner, action)
        return after._replace(state=CartState(state.condition, after.state))


def home() -> GymnaxEnv:
    """Return the env that is trained on."""
    cartpole = find("CartPole-v1")
    assert cartpole is not None
    return cartpole


@lru_cache(maxsize=1)
def carts() -> Carts:
    """Return the env of all conditions: one object, so that its program is shared."""
    return Carts()


class Begun(NamedTuple):
    """How episodes begin: the condition's number and the first state of each."""

    condition: Int[np.ndarray, " episodes"]
    state: Float[np.ndarray, "episodes 4"]


def returns(policy: QPolicy, params: Params, count: int) -> Float[np.ndarray, " episodes"]:
    """Return returns of whole episodes under all conditions; those of `begun`, in its order."""
    each = [episode_returns(carts(), policy, params, seed).returns for seed in range(count)]
    return np.concatenate(each)


@lru_cache(maxsize=2)
def begun(count: int) -> Begun:
    """Return how the episodes of `returns` begin: alike for every policy."""
    runners = [start_episodes(carts(), seed) for seed in range(count)]
    conditions = [np.asarray(runner.state.condition) for runner in runners]
    states = [np.asarray(runner.observation) for runner in runners]
    return Begun(np.concatenate(conditions), np.concatenate(states))


def visited(
    states: Float[np.ndarray, "rows 4"], met: Float[np.ndarray, "others 4"]
) -> Bool[np.ndarray, " rows"]:
    """Return whether each state has a neighbour, in all four numbers, among those met."""
    apart, _ = cKDTree(met / NEAR).query(states / NEAR, p=np.inf, distance_upper_bound=1.0)
    return np.isfinite(apart)
