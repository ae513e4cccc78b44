"""DQN watched on its way: networks and buffer at chosen moments, and how well it ends."""

from typing import Any, NamedTuple

import jax
import numpy as np

from nbyt.collect.evaluate import episode_returns
from nbyt.envs import resolve
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.objective.dqn import Transitions
from nbyt.policy.q_policy import QPolicy
from nbyt.studies.bench import Bench
from nbyt.train.dqn_algorithm import DQNAlgorithm
from nbyt.train.dqn_plan import DQNPlan
from nbyt.train.dqn_settings import DQNSettings
from nbyt.train.metrics import Row
from nbyt.train.replay_layout import ReplayLayout


class Moment(NamedTuple):
    """A run after so many updates: both networks, and what the buffer holds, the oldest first."""

    updates: int
    policy: QPolicy
    weights: dict[str, Any]
    target: dict[str, Any]
    rows: Transitions


class Followed(NamedTuple):
    """A run that is over: the moments asked for, its metrics, and returns of its last policy.

    returns: of whole episodes, always with the best action.
    """

    moments: tuple[Moment, ...]
    rows: tuple[Row, ...]
    returns: np.ndarray


def follow(
    bench: Bench,
    env: str | DeviceEnv | HostEnv,
    layout: ReplayLayout,
    total: int,
    settings: DQNSettings = DQNSettings(),
    *,
    seed: int = 0,
    moments: tuple[int, ...] = (),
) -> Followed:
    """A whole run, looked at after these updates; seed: counted from the study's own."""
    found = resolve(env)
    plan = DQNPlan(found.id, layout, total, bench.seed + seed, settings, tuple(sorted(moments)))
    course = DQNAlgorithm(plan, found)
    seen: list[Moment] = []
    rows: list[Row] = []
    words = f"{found.id.partition(':')[2]}, seed {plan.seed}"
    try:
        for made in course.updates(1):
            rows.append(course.row(made))
            if made.number in moments:
                seen.append(_moment(course, made.number))
            bench.progress(words, made.number, plan.updates)
    finally:
        course.close()
    returns = episode_returns(found, course.policy, course.params, plan.seed).returns
    return Followed(tuple(seen), tuple(rows), returns)


def _moment(course: DQNAlgorithm, updates: int) -> Moment:
    # Copies: the next block takes the arrays over.
    weights, target = jax.device_get((course.learner.weights, course.learner.target))
    return Moment(updates, course.policy, weights, target, course.experience(updates))
