"""Whole DQN trainings to be compared: one setting for all, and what a run leaves as plain data.

The setting was searched on CartPole-v1 alone, with uniform draws, in 17 combinations of three
seeds each that no comparison uses: gamma .95 to .99, learning rates .0005 to .003, copies to the
target network every 100 to 1,024 steps, 1 or 2 gradient steps every 4 steps or 128 every 256,
with and without double Q-learning, runs of 20,000 to 50,000 steps. Means over seeds went from 9
(Q-values beyond all bounds: a small learning rate with frequent copies) to 265. Higher means than
this setting's 167 came with one lucky seed and two poor ones or with longer runs; here the three
seeds ended between 152 and 185. A policy of random actions has about 22.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Int

from nbyt.collect.evaluate import episode_returns
from nbyt.envs import resolve
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.policy.q_policy import QPolicy, greedy
from nbyt.results.values import Data
from nbyt.training.algorithms.dqn import DQNAlgorithm, initial_learner
from nbyt.training.algorithms.registry import Row
from nbyt.training.dqn import DQNPlan, DQNSettings, ReplayLayout
from nbyt.training.losses import Transitions
from nbyt_studies.experiment import Context, env_name
from nbyt_studies.numbers import shortened


class Moment(NamedTuple):
    """A run after so many updates: both networks, and what the buffer holds, the oldest first."""

    updates: int
    policy: QPolicy
    weights: dict[str, Any]
    target: dict[str, Any]
    rows: Transitions


class Followed(NamedTuple):
    """A finished run: the moments asked for, its metrics, and returns of its last policy.

    returns: of whole episodes, always with the best action.
    """

    moments: tuple[Moment, ...]
    rows: tuple[Row, ...]
    returns: np.ndarray


def follow(
    context: Context,
    env: str | DeviceEnv | HostEnv,
    layout: ReplayLayout,
    total: int,
    settings: DQNSettings = DQNSettings(),
    *,
    seed: int = 0,
    moments: tuple[int, ...] = (),
) -> Followed:
    """Train a whole run and keep its moments; seed: counted from the study's own."""
    resolved = resolve(env)
    plan = DQNPlan(
        resolved.id, layout, total, context.seed + seed, settings, tuple(sorted(moments))
    )
    algorithm = DQNAlgorithm(plan, resolved)
    seen: list[Moment] = []
    rows: list[Row] = []
    words = f"{env_name(resolved.id)}, seed {plan.seed}"
    try:
        for update in algorithm.updates(1):
            rows.append(algorithm.row(update))
            if update.number in moments:
                seen.append(_moment(algorithm, update.number))
            context.progress(words, update.number, plan.updates)
    finally:
        algorithm.close()
    returns = episode_returns(resolved, algorithm.policy, algorithm.params, plan.seed).returns
    return Followed(tuple(seen), tuple(rows), returns)


def _moment(algorithm: DQNAlgorithm, updates: int) -> Moment:
    # Copies: the next block takes the arrays over.
    weights, target = jax.device_get((algorithm.learner.weights, algorithm.learner.target))
    return Moment(updates, algorithm.policy, weights, target, algorithm.experience(updates))


CARTPOLE = "gymnax:CartPole-v1"
TOTAL = 24_000
LAYOUT = ReplayLayout(envs=1, steps=4, minibatch=64, buffer=TOTAL, warm_up=1024)
SETTINGS = DQNSettings(
    gamma=0.99,
    learning_rate=2e-3,
    anneal=True,
    target_every=400,
    exploration=0.16,
    epsilon_end=0.04,
    network="64x64",
)
# Steps between two points of a learning curve.
EVERY = 1000


def trained(
    context: Context,
    seed: int,
    *,
    env: str = CARTPOLE,
    layout: ReplayLayout = LAYOUT,
    moments: tuple[int, ...] = (),
    **changes: Any,
) -> Followed:
    """Train the common setting with these changes to it."""
    settings = replace(SETTINGS, **changes)
    return follow(context, env, layout, TOTAL, settings, seed=seed, moments=moments)


def outcome(run: Followed) -> Data:
    """Return how well a run ended, how well it did on its way, and its learning curve.

    final_return: the last policy's in whole episodes, always with the best action. on_the_way: the
    mean of the curve, which comes from the episodes of training, random actions included.
    """
    known = [row for row in run.rows if row["mean_return"] is not None]
    steps, returns = ([row[name] for row in known] for name in ("steps", "mean_return"))
    curve = np.interp(np.arange(EVERY, TOTAL + 1, EVERY), steps, returns)
    return {
        "final_return": float(run.returns.mean()),
        "on_the_way": float(curve.mean()),
        "curve": shortened(curve),
    }


def random_return(context: Context, env: str, seed: int) -> float:
    """Return the mean return of whole episodes of random actions."""
    resolved = resolve(env)
    plan = DQNPlan(resolved.id, LAYOUT, TOTAL, context.seed + seed, SETTINGS, ())
    policy, learner = initial_learner(plan, resolved)
    chance = greedy(learner.weights, 1.0)
    return float(episode_returns(resolved, policy, chance, plan.seed).returns.mean())


# Cells of continuous states, in standard deviations of each coordinate.
CELL = 0.5


def episodes(rows: Transitions) -> Int[np.ndarray, " n"]:
    """Return the number of each transition's episode, of one env's transitions in their order.

    A new one begins after a termination, and where an observation is not the one that came before:
    there a time limit cut the episode. A cut whose reset gives the very same state is not seen.
    """
    count = len(rows.reward)
    before, after = (x.reshape(count, -1) for x in (rows.next_observation, rows.observation))
    begins = rows.terminated[:-1] | (before[:-1] != after[1:]).any(axis=1)
    return np.concatenate([[0], np.cumsum(begins)])


def states(rows: Transitions) -> Int[np.ndarray, " n"]:
    """Return the number of each row's state: exact for whole numbers, else that of its cell."""
    seen = np.asarray(rows.observation).reshape(len(rows.reward), -1)
    if not np.array_equal(seen, np.round(seen)):
        scale = seen.std(axis=0)
        seen = np.round(seen / (CELL * np.where(scale > 0, scale, 1.0)))
    return np.unique(seen, axis=0, return_inverse=True)[1].reshape(-1)


SEEDS = (4, 6)
WORDS = ("early", "middle", "late")


@dataclass(frozen=True)
class Task:
    """An env, how DQN learns it, and the env steps after which it is measured.

    Buffers then hold a multiple of the largest mini-batch.
    """

    env: str
    layout: ReplayLayout
    settings: DQNSettings
    moments: tuple[int, int, int]

    @property
    def name(self) -> str:
        """The env without its suite."""
        return env_name(self.env)


_LAYOUT = ReplayLayout(1, 4, 64, buffer=10_240, warm_up=1024)
# Few copies to the target network: with many, DQN's Q-values run away on CartPole.
_DEEP: dict[str, Any] = {"double": True, "target_every": 2000}
TASKS = (
    Task(
        "gymnax:CartPole-v1", _LAYOUT, DQNSettings(network="64x64", **_DEEP), (4096, 20_480, 51_200)
    ),
    Task(
        "gymnax:Acrobot-v1", _LAYOUT, DQNSettings(network="64x64", **_DEEP), (4096, 20_480, 51_200)
    ),
    Task(
        "tabular:CliffWalking-v1",
        _LAYOUT,
        DQNSettings(network="table", learning_rate=0.05, **_DEEP),
        (4096, 10_240, 20_480),
    ),
    # A small network and buffer: every transition's gradient is written out.
    Task(
        "gymnax:Breakout-MinAtar",
        ReplayLayout(1, 4, 64, buffer=4096, warm_up=1024),
        DQNSettings(network="32", **_DEEP),
        (4096, 12_288, 24_576),
    ),
)


def tasks(context: Context) -> tuple[Task, ...]:
    """Return the tasks of the study; quick: two."""
    return context.pick(TASKS[:2], TASKS)


def moments_of(context: Context, task: Task, seed: int) -> Iterator[tuple[str, Moment]]:
    """Yield the moments of one seed's run with their words."""
    updates = tuple(steps // task.layout.fresh for steps in task.moments)
    total = task.moments[-1]
    run = follow(context, task.env, task.layout, total, task.settings, seed=seed, moments=updates)
    yield from zip(WORDS, run.moments, strict=True)
