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
from nbyt.exact.limits import require_env, require_room, require_stage
from nbyt.exact.scores import scores
from nbyt.exact.values import stationary
from nbyt.exact.walk import chain, normalised, walk
from nbyt.numbers import Number
from nbyt.policy.actor_critic import Stage

States = Int[np.ndarray, "*n K+1"]
Actions = Int[np.ndarray, "*n K"]
Ended = Bool[np.ndarray, "*n"]


def visits(env: TabularEnv, policy: Stage) -> Float[np.ndarray, " S"]:
    """Return the stationary law of the walk with its resets and time limit, by env state."""
    require_stage(policy, env)
    states = len(env.start)
    steps = walk(env, scores(policy).policy, filler=False)
    law = stationary(chain(steps, np.zeros(states), gamma=1.0, lam=1.0).moves)
    return np.bincount(steps.observation, law, minlength=states)


class Trajectories(NamedTuple):
    """n trajectories of K steps; those with `ended` count only where the episode ends there."""

    states: Int[np.ndarray, "n K+1"]
    actions: Int[np.ndarray, "n K"]
    ended: Bool[np.ndarray, " n"]


def trajectory_probability(
    env: TabularEnv,
    policy: Stage,
    states: States,
    actions: Actions,
    ended: Ended | bool = False,
) -> Float[np.ndarray, "*n"]:
    """Return P(tau | pi) = start(s_0) prod_t pi(a_t | s_t) P(s_{t+1} | s_t, a_t).

    Before the last step, P counts only what goes on. Where `ended`, the last step must end the
    episode; else it may. Over all trajectories of T steps, and all shorter ones that ended, the
    sum is 1.
    """
    return np.exp(trajectory_log_probability(env, policy, states, actions, ended))


def trajectory_log_probability(
    env: TabularEnv,
    policy: Stage,
    states: States,
    actions: Actions,
    ended: Ended | bool = False,
) -> Float[np.ndarray, "*n"]:
    """Return log P(tau | pi); minus infinity where a trajectory cannot be."""
    require_stage(policy, env)
    states, actions = _checked(env, states, actions)
    ends = np.asarray(ended, bool)
    if ends.shape not in ((), actions.shape[:-1]):
        raise UsageError(
            f"ended has shape {ends.shape}, there are {actions.shape[:-1]} trajectories",
            where="ended",
            fix="give one for each trajectory, or one for all",
        )
    with np.errstate(divide="ignore"):
        start = np.log(normalised(env.start))
        chosen = np.log(scores(policy).policy)
        moved = np.log(_moved(env, states, actions, ends))
    steps = chosen[states[..., :-1], actions] + moved
    return start[states[..., 0]] + steps.sum(axis=-1)


def possible_trajectories(env: TabularEnv, steps: int) -> Iterator[Trajectories]:
    """Return every trajectory of `steps` steps, and every shorter one whose episode has ended.

    Those that the env cannot make, whatever is done, are left out.
    """
    require_env(env)
    Number(0, 10**15, whole=True).check(steps, "steps")
    first = np.flatnonzero(env.start)[:, None]
    begun = Trajectories(first, np.zeros((len(first), 0), int), np.zeros(len(first), bool))
    going, ending = (table > 0 for table in _by_end(env))
    for made in range(1, steps):
        late = env.time_limit is not None and made >= env.time_limit
        yield _longer(begun, ending | (going & late), ended=True)
        begun = _longer(begun, going & (not late), ended=False)
    yield _longer(begun, going | ending, ended=False) if steps else begun


def _longer(some: Trajectories, possible: Bool[np.ndarray, "S A S"], ended: bool) -> Trajectories:
    """Return the trajectories with every possible further step."""
    row, action, after = np.nonzero(possible[some.states[:, -1]])
    steps = some.states.shape[1]
    require_room(len(row) * (2 * steps + 1), f"all trajectories of {steps} steps")
    states = np.column_stack([some.states[row], after])
    actions = np.column_stack([some.actions[row], action])
    return Trajectories(states, actions, np.full(len(row), ended))


def _moved(
    env: TabularEnv, states: States, actions: Actions, ended: Ended
) -> Float[np.ndarray, "*n K"]:
    """Return the probability of each next state, where the last step alone can end the episode."""
    steps, limit = actions.shape[-1], env.time_limit
    place = states[..., :-1], actions, states[..., 1:]
    moved, ending = (table[place] for table in _by_end(env))
    if steps != limit:  # else the limit ends the episode, if nothing else does
        moved[..., -1:] *= ~ended[..., None]
    moved[..., -1:] += ending[..., -1:]
    return moved * (limit is None or steps <= limit)


def _by_end(env: TabularEnv) -> tuple[Float[np.ndarray, "S A S"], Float[np.ndarray, "S A S"]]:
    """Return the probabilities to go on to each state, and to end the episode in it."""
    found, probability = env.outcomes, normalised(env.outcomes.probability)
    ends = probability * found.terminated
    return found.by_state(probability - ends), found.by_state(ends)


def _checked(env: TabularEnv, states: object, actions: object) -> tuple[np.ndarray, np.ndarray]:
    """Return both as arrays of whole numbers that the env knows, or a UsageError."""
    found = np.asarray(states), np.asarray(actions)
    counts = env.outcomes.state.shape[:2]
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
