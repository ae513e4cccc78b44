"""Runs that differ only in how mini-batches are drawn, looked at on their way."""

import numpy as np
from jaxtyping import Int

from nbyt.minibatch.replay import Filled, Sampling, draw
from nbyt.policy.actor_critic import Params
from nbyt.policy.q_policy import greedy
from nbyt.rng import numpy_stream
from nbyt.studies.replay.learning import Moment
from nbyt.studies.study import Data
from nbyt.train.replay_layout import ReplayLayout

SAMPLINGS: tuple[Sampling, ...] = ("uniform", "sequential", "newest")
MINIBATCH = 64
MOMENTS = 6
_DRAWS = 32


def layout_of(total: int) -> ReplayLayout:
    """The sizes of a run: its buffer forgets nothing, so that it tells what was ever met."""
    return ReplayLayout(envs=1, steps=4, minibatch=MINIBATCH, buffer=total)


def moments_of(total: int) -> tuple[int, ...]:
    """The updates after which a run is looked at: evenly, up to its last."""
    updates = layout_of(total).updates(total)
    return tuple(round(updates * (place + 1) / MOMENTS) for place in range(MOMENTS))


def params_of(moment: Moment) -> Params:
    """The moment's greedy policy."""
    return greedy(moment.weights)


def variety(labels: Int[np.ndarray, "rows _"], sampling: Sampling, seed: int) -> float:
    """How many different labels a mini-batch holds on average, drawn from rows in this order."""
    _, numbers = np.unique(labels, axis=0, return_inverse=True)
    generator = numpy_stream(seed, "unseen.variety")
    places = draw(sampling, Filled(len(labels), len(labels)), MINIBATCH, _DRAWS, generator)
    return float(np.mean([len(np.unique(own)) for own in numbers.reshape(-1)[places]]))


def by_sampling(seeds: list[dict[Sampling, Data]]) -> list[Data]:
    """What each sampling found, over the seeds."""
    return [{"sampling": one, "seeds": [seed[one] for seed in seeds]} for one in SAMPLINGS]
