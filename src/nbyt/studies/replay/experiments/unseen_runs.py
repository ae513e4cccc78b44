"""Runs that differ only in how mini-batches are drawn, looked at on their way."""

import jax
import jax.numpy as jnp

from nbyt.minibatch.replay import Sampling
from nbyt.policy.actor_critic import Params
from nbyt.policy.q_policy import greedy
from nbyt.results.values import Data
from nbyt.studies.replay.learning import Moment
from nbyt.train.replay_layout import ReplayLayout

SAMPLINGS: tuple[Sampling, ...] = ("uniform", "sequential", "newest")
MOMENTS = 6


def layout_of(total: int) -> ReplayLayout:
    """The sizes of a run: its buffer forgets nothing, so that it tells what was ever met."""
    return ReplayLayout(envs=1, steps=4, minibatch=64, buffer=total)


def moments_of(total: int) -> tuple[int, ...]:
    """The updates after which a run is looked at: evenly, up to its last."""
    updates = layout_of(total).updates(total)
    return tuple(round(updates * (place + 1) / MOMENTS) for place in range(MOMENTS))


def params_of(moment: Moment) -> Params:
    """The moment's greedy policy."""
    return greedy(jax.tree.map(jnp.asarray, moment.weights))


def by_sampling(seeds: list[dict[Sampling, Data]]) -> list[Data]:
    """What each sampling found, over the seeds."""
    return [{"sampling": one, "seeds": [seed[one] for seed in seeds]} for one in SAMPLINGS]
