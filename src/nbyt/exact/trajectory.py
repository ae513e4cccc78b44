"""P(tau | pi): how probable a trajectory is, as a function of the tables and the policy.

A trajectory is states s_0 ... s_K and actions a_0 ... a_{K-1} of one episode, without resets: the
first state is a start state, and nothing comes after a death or the time limit.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from nbyt.envs.tabular import TabularEnv
from nbyt.errors import UsageError
from nbyt.exact.limits import require_count, require_env, require_room, require_stage
from nbyt.exact.scores import scores
from nbyt.exact.walk import normalised
from nbyt.policy.stage import Stage


class Trajectories(NamedTuple):
    """n trajectories of K steps."""

    states: Int[np.ndarray, "n K+1"]
    actions: Int[np.ndarray, "n K"]


def trajectory_probability(
    env: TabularEnv,
    policy: Stage,
    states: Int[np.ndarray, "*n K+1"],
    actions: Int[np.ndarray, "*n K"],
) -> Float[np.ndarray, "*n"]:
    """P(tau | pi) = start(s_0) prod_t pi(a_t | s_t) P(s_{t+1} | s_t, a_t) of each trajectory.

    Over all trajectories of T steps, and all shorter ones whose episode has ended, it sums to 1.
    """
    return np.exp(trajectory_log_probability(env, policy, states, actions))


def trajectory_log_probability(
    env: TabularEnv,
    policy: Stage,
    states: Int[np.ndarray, "*n K+1"],
    actions: Int[np.ndarray, "*n K"],
) -> Float[np.ndarray, "*n"]:
    """log P(tau | pi); minus infinity where a trajectory cannot be."""
    require_env(env)
    require_stage(policy, env)
    states, actions = _checked(env, states, actions)
    here, after = states[..., :-1], states[..., 1:]
    with np.errstate(divide="ignore"):
        start = np.log(normalised(env.start))
        chosen = np.log(scores(policy).policy)
        moved = np.log(normalised(env.transition))
    steps = chosen[here, actions] + moved[here, actions, after]
    found = start[states[..., 0]] + steps.sum(axis=-1)
    return np.where(_goes_past_its_end(env, states, actions), -np.inf, found)


def possible_trajectories(env: TabularEnv, steps: int) -> Iterator[Trajectories]:
    """Every trajectory of `steps` steps, and every shorter one whose episode has ended.

    Those that the env cannot make, whatever is done, are left out.
    """
    require_env(env)
    require_count("steps", steps, 0)
    states = np.flatnonzero(env.start)[:, None]
    actions = np.zeros((len(states), 0), int)
    for made in range(1, steps + 1):
        row, action, after = np.nonzero(env.transition[states[:, -1]])
        require_room(len(row) * (2 * made + 1), f"all trajectories of {made} steps")
        ended = env.terminated[states[row, -1], action, after]
        ended |= env.time_limit is not None and made >= env.time_limit
        states = np.column_stack([states[row], after])
        actions = np.column_stack([actions[row], action])
        if made < steps:
            yield Trajectories(states[ended], actions[ended])
            states, actions = states[~ended], actions[~ended]
    yield Trajectories(states, actions)


def _goes_past_its_end(
    env: TabularEnv, states: Int[np.ndarray, "*n K+1"], actions: Int[np.ndarray, "*n K"]
) -> Bool[np.ndarray, "*n"]:
    """Whether a step was made after a death, or after the time limit."""
    died = env.terminated[states[..., :-1], actions, states[..., 1:]]
    late = env.time_limit is not None and actions.shape[-1] > env.time_limit
    return died[..., :-1].any(axis=-1) | late


def _checked(env: TabularEnv, states: object, actions: object) -> tuple[np.ndarray, np.ndarray]:
    """Both as arrays of whole numbers that the env knows, or a UsageError."""
    found = np.asarray(states), np.asarray(actions)
    counts = env.transition.shape[:2]
    for name, numbers, count in zip(("states", "actions"), found, counts, strict=True):
        whole = numbers.size == 0 or np.issubdtype(numbers.dtype, np.integer)
        if not whole or (numbers < 0).any() or (numbers >= count).any():
            raise UsageError(
                f"{name} must be whole numbers from 0 to {count - 1}", where=name, fix=env.id
            )
    first, second = (numbers.shape for numbers in found)
    if not second or first != (*second[:-1], second[-1] + 1):
        raise UsageError(
            f"states have shape {first} and actions {second}",
            where="states",
            fix="give one state more than actions: the one that each trajectory ends in",
        )
    return found[0].astype(int), found[1].astype(int)
