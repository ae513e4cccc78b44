"""Draws from the buffer at random, in sequence, and not at all: whole trainings of each."""

from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Shaped

from nbyt.envs import resolve
from nbyt.envs.tabular import TabularEnv
from nbyt.exact.values import optimal_values
from nbyt.exact.walk import closure, goes_on
from nbyt.minibatch.replay import Sampling
from nbyt.policy.q_policy import QPolicy, greedy
from nbyt.results.values import Data
from nbyt_studies.experiment import Context, Experiment
from nbyt_studies.numbers import shortened
from nbyt_studies.replay.trainings import (
    CARTPOLE,
    EVERY,
    LAYOUT,
    SETTINGS,
    TOTAL,
    Followed,
    Moment,
    outcome,
    random_return,
    trained,
)


class Task(NamedTuple):
    """An environment, the steps between two copies to the target network, and words for both.

    possible: the largest Q-value that can be true, for a reward of 1 at every step or once.
    """

    words: str
    env: str
    possible: float
    target_every: int = SETTINGS.target_every


_ENDLESS = 1 / (1 - SETTINGS.gamma)
TASKS = (
    Task("CartPole-v1", CARTPOLE, _ENDLESS),
    # Each copy adds at most about a reward: with few of them Q-values cannot go beyond all bounds.
    Task("CartPole-v1, copies every 120 steps", CARTPOLE, _ENDLESS, 120),
    Task("CartPole-v1, copies every 40 steps", CARTPOLE, _ENDLESS, 40),
    Task("FrozenLake-v1", "tabular:FrozenLake-v1", 1.0),
)
SAMPLINGS: tuple[Sampling, ...] = ("uniform", "sequential", "newest")
SEEDS = (4, 20)
# States whose Q-values are watched: every eighth of the warm-up, whose actions are random and the
# same whatever is learnt later.
_EIGHTH = 8


def run(context: Context) -> Data:
    """Every task, every way to draw, every seed."""
    return {"every": EVERY, "envs": [_task(context, task) for task in TASKS]}


def _task(context: Context, task: Task) -> Data:
    seeds = range(context.pick(*SEEDS))
    return {
        "env": task.words,
        "possible": task.possible,
        "usual": task.target_every == SETTINGS.target_every,
        "random_returns": shortened(random_return(context, task.env, seed) for seed in seeds),
        "samplings": {
            sampling: [_looked_at(context, task, sampling, seed) for seed in seeds]
            for sampling in SAMPLINGS
        },
    }


def _looked_at(context: Context, task: Task, sampling: Sampling, seed: int) -> Data:
    """One run: its outcome, and the Q-values on its way."""
    ends = tuple(range(EVERY // LAYOUT.fresh, TOTAL // LAYOUT.fresh + 1, EVERY // LAYOUT.fresh))
    followed = trained(
        context,
        seed,
        env=task.env,
        moments=ends,
        sampling=sampling,
        target_every=task.target_every,
    )
    levels = watched(followed)
    own = {
        **outcome(followed),
        "levels": shortened(levels.mean(axis=1)),
        "oscillation": oscillation(levels),
        "highest": float(np.abs(levels.mean(axis=1)).max()),
    }
    found = resolve(task.env)
    if isinstance(found, TabularEnv):
        errors = map(partial(error_of, found), followed.moments)
        own["errors"] = shortened(errors)
    return own


def watched(followed: Followed) -> Float[np.ndarray, "K S"]:
    """The highest Q-value of each watched state, at every moment of the run."""
    seen = np.asarray(followed.moments[-1].rows.observation)
    states = seen[: LAYOUT.warm_up : _EIGHTH]
    return np.stack([q_values(one, states).max(axis=1) for one in followed.moments])


def q_values(moment: Moment, states: Shaped[np.ndarray, "S ..."]) -> Float[np.ndarray, "S A"]:
    """The Q-value of every action in these states."""
    return np.asarray(_q_values(moment.policy, moment.weights, states), float)


@partial(jax.jit, static_argnames="policy")
def _q_values(
    policy: QPolicy, weights: dict[str, Any], states: Shaped[Array, "S ..."]
) -> Float[Array, "S A"]:
    return policy.values(greedy(weights), states)


def oscillation(levels: Float[np.ndarray, "K S"]) -> float:
    """How unsteadily Q-values move, relative to their size, after the first quarter of the run.

    The standard deviation of a state's changes from moment to moment, root mean square over
    states: a steady rise or fall counts nothing.
    """
    late = levels[len(levels) // 4 :]
    changes = np.diff(late, axis=0).std(axis=0, ddof=1)
    return float(np.sqrt((changes**2).mean()) / np.abs(late).mean())


def error_of(env: TabularEnv, moment: Moment) -> float:
    """The mean |Q - Q*| over all actions in all states that an episode can be in."""
    states, actions, _ = env.outcomes.state.shape
    uniform = np.full((states, actions), 1 / actions)
    inside = closure(env.start > 0, goes_on(env, uniform))
    apart = q_values(moment, np.arange(states)) - optimal_values(env, SETTINGS.gamma).action
    return float(np.abs(apart)[inside].mean())


EXPERIMENTS = (Experiment("stability", "trainings by the way to draw", run),)
