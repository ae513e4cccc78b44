"""Whole DQN trainings by size of the mini-batch, by optimiser, and by the way to draw."""

from dataclasses import replace
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
from nbyt.training.dqn import ReplayLayout
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
STABILITY_SEEDS = (4, 20)
# States whose Q-values are watched: every eighth of the warm-up, whose actions are random and the
# same whatever is learnt later.
_EIGHTH = 8


def run_stability(context: Context) -> Data:
    """Train every task with every way to draw and every seed."""
    return {"every": EVERY, "envs": [_task(context, task) for task in TASKS]}


def _task(context: Context, task: Task) -> Data:
    seeds = range(context.pick(*STABILITY_SEEDS))
    return {
        "env": task.words,
        "possible": task.possible,
        "usual": task.target_every == SETTINGS.target_every,
        "random_returns": shortened(random_return(context, task.env, seed) for seed in seeds),
        "samplings": {
            sampling: [_run_data(context, task, sampling, seed) for seed in seeds]
            for sampling in SAMPLINGS
        },
    }


def _run_data(context: Context, task: Task, sampling: Sampling, seed: int) -> Data:
    ends = tuple(range(EVERY // LAYOUT.fresh, TOTAL // LAYOUT.fresh + 1, EVERY // LAYOUT.fresh))
    followed = trained(
        context, seed, env=task.env, moments=ends, sampling=sampling, target_every=task.target_every
    )
    levels = watched(followed)
    own = {
        **outcome(followed),
        "levels": shortened(levels.mean(axis=1)),
        "oscillation": oscillation(levels),
        "highest": float(np.abs(levels.mean(axis=1)).max()),
    }
    env = resolve(task.env)
    if isinstance(env, TabularEnv):
        errors = map(partial(error_of, env), followed.moments)
        own["errors"] = shortened(errors)
    return own


def watched(followed: Followed) -> Float[np.ndarray, "K S"]:
    """Return the highest Q-value of each watched state, at every moment of the run."""
    seen = np.asarray(followed.moments[-1].rows.observation)
    states = seen[: LAYOUT.warm_up : _EIGHTH]
    return np.stack([q_values(one, states).max(axis=1) for one in followed.moments])


def q_values(moment: Moment, states: Shaped[np.ndarray, "S ..."]) -> Float[np.ndarray, "S A"]:
    """Return the Q-value of every action in these states."""
    return np.asarray(_q_values(moment.policy, moment.weights, states), float)


@partial(jax.jit, static_argnames="policy")
def _q_values(
    policy: QPolicy, weights: dict[str, Any], states: Shaped[Array, "S ..."]
) -> Float[Array, "S A"]:
    return policy.values(greedy(weights), states)


def oscillation(levels: Float[np.ndarray, "K S"]) -> float:
    """Return how much Q-values oscillate, relative to their size, after a quarter of the run.

    The standard deviation of a state's changes from moment to moment, root mean square over
    states: a steady rise or fall counts nothing.
    """
    late = levels[len(levels) // 4 :]
    changes = np.diff(late, axis=0).std(axis=0, ddof=1)
    return float(np.sqrt((changes**2).mean()) / np.abs(late).mean())


def error_of(env: TabularEnv, moment: Moment) -> float:
    """Return the mean |Q - Q*| over all actions in all states that an episode can be in."""
    states, actions, _ = env.outcomes.state.shape
    uniform = np.full((states, actions), 1 / actions)
    inside = closure(env.start > 0, goes_on(env, uniform))
    apart = q_values(moment, np.arange(states)) - optimal_values(env, SETTINGS.gamma).action
    return float(np.abs(apart)[inside].mean())


# Learning rates to choose from, a factor of 2 to 3 apart around what each is used with.
RATES = {
    "sgd": (3e-3, 1e-2, 3e-2, 1e-1),
    "rmsprop": (5e-4, 1e-3, 2e-3, 4e-3),
    "adam": (5e-4, 1e-3, 2e-3, 4e-3),
}

CHOOSING = (1, 3)
# Seeds that choose the rates are none of those that compare.
_APART = 100


def run_optimisers(context: Context) -> Data:
    """Choose each optimiser's rate, and run it on fresh seeds."""
    seeds = range(context.pick(*SEEDS))
    return {
        "every": EVERY,
        "random_returns": shortened(random_return(context, CARTPOLE, seed) for seed in seeds),
        "choosing": context.pick(*CHOOSING),
        "rows": [_row(context, name) for name in RATES],
    }


def _row(context: Context, name: str) -> Data:
    apart = range(_APART, _APART + context.pick(*CHOOSING))
    tried = [_mean(_outcomes(context, name, rate, apart)) for rate in RATES[name]]
    best = RATES[name][int(np.argmax(tried))]
    return {
        "optimiser": name,
        "rates": list(RATES[name]),
        "tried": shortened(tried),
        "learning_rate": best,
        "seeds": _outcomes(context, name, best, range(context.pick(*SEEDS))),
    }


def _outcomes(context: Context, name: str, rate: float, seeds: range) -> list[Data]:
    return [outcome(trained(context, seed, optimizer=name, learning_rate=rate)) for seed in seeds]


def _mean(outcomes: list[Data]) -> float:
    """Return the mean return on the way, which is less noisy than the last one."""
    return float(np.mean([one["on_the_way"] for one in outcomes]))


SIZES = ((8, 32, 256, 1024), (1, 8, 32, 64, 128, 256, 1024))
SEEDS = (3, 8)
# A buffer that one mini-batch of distinct rows covers: a gradient step on all of it every 256
# steps differentiates as many transitions as mini-batches of 32 every 4 steps.
BUFFER = 2048
WHOLE = ReplayLayout(steps=256, minibatch=BUFFER, buffer=BUFFER, warm_up=BUFFER)
PART = ReplayLayout(steps=4, minibatch=32, buffer=BUFFER, warm_up=BUFFER)
# Fewer and less noisy steps may be longer, and more steps between two copies to the target network
# may suit them: the whole buffer is given learning rates and intervals between copies to choose.
WAYS = tuple((rate, every) for every in (400, 1024) for rate in (2e-3, 8e-3))


def run(context: Context) -> Data:
    """Train with every size, and with the whole buffer against a part of it."""
    seeds = range(context.pick(*SEEDS))
    return {
        "every": EVERY,
        "random_returns": shortened(random_return(context, CARTPOLE, seed) for seed in seeds),
        "rows": _rows(context),
        "whole": [_whole(context, *way) for way in WAYS],
        "part": _seeds(context, PART),
    }


def _equal_steps(size: int) -> ReplayLayout:
    return replace(LAYOUT, minibatch=size)


def _equal_compute(size: int) -> ReplayLayout:
    """Process as many transitions for each step as the common setting does."""
    share = LAYOUT.minibatch * LAYOUT.gradient_steps // LAYOUT.fresh
    steps, gradient_steps = max(1, size // share), max(1, share // size)
    return replace(LAYOUT, steps=steps, minibatch=size, gradient_steps=gradient_steps)


LAYOUTS = {"gradient steps": _equal_steps, "compute": _equal_compute}


def _rows(context: Context) -> list[Data]:
    """Train every size at either budget; layouts that both share are trained once."""
    done: dict[ReplayLayout, list[Data]] = {}
    rows = []
    for budget, layout_of in LAYOUTS.items():
        for size in context.pick(*SIZES):
            layout = layout_of(size)
            done[layout] = done.get(layout) or _seeds(context, layout)
            rows.append({"equal": budget, **layout.as_dict(), "seeds": done[layout]})
    return rows


def _whole(context: Context, rate: float, every: int) -> Data:
    changes = {"sampling": "distinct", "learning_rate": rate, "target_every": every}
    seeds = _seeds(context, WHOLE, **changes)
    return {"learning_rate": rate, "target_every": every, "seeds": seeds}


def _seeds(context: Context, layout: ReplayLayout, **changes: Any) -> list[Data]:
    return [
        outcome(trained(context, seed, layout=layout, **changes))
        for seed in range(context.pick(*SEEDS))
    ]


EXPERIMENTS = (
    Experiment("stability", "trainings by the way to draw", run_stability),
    Experiment("optimisers", "trainings by the optimiser", run_optimisers),
    Experiment("training-sizes", "trainings by the size of the mini-batch", run),
)
