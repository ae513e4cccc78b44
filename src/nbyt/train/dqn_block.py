"""A block of DQN updates: what is known of it beforehand, what it shows, and who carries it out."""

from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from nbyt.objective.dqn import Rates, Seen, Transitions
from nbyt.train.dqn import QLearner
from nbyt.train.dqn_settings import DQNSettings


class Schedule(NamedTuple):
    """What is known beforehand of a block of B updates; only the first `count` are made."""

    first: Int[Any, ""]
    count: Int[Any, ""]
    epsilon: Float[Any, " B"]
    learning_rate: Float[Any, " B"]
    learns: Bool[Any, " B"]
    copies: Bool[Any, " B"]
    places: Int[Any, "B gradient_steps minibatch"]


class Tally(NamedTuple):
    """What a block's updates showed, summed up.

    fault: the first row of the block (update, then t * N + n) with a number that is not finite, or
    -1, and its action. dropped: rows left out for that.
    """

    episodes: jax.Array
    returns: jax.Array
    lengths: jax.Array
    learning: jax.Array
    seen: Seen
    fault: jax.Array
    fault_action: jax.Array
    dropped: jax.Array


@runtime_checkable
class ReplaySource(Protocol):
    """Environments, their buffer and what is learnt from it, on the device or on the host."""

    @property
    def learner(self) -> QLearner:
        """Network, target network and optimiser; gone once the next block is under way."""
        ...

    @property
    def rows(self) -> Transitions:
        """All places of the buffer, written or not."""
        ...

    def block(self, settings: DQNSettings, schedule: Schedule, rates: Rates) -> Tally:
        """What a block of updates showed; numbers may still be on their way."""
        ...

    def state(self) -> Any:
        """Everything that a checkpoint has to hold, as a tree of arrays."""
        ...

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint."""
        ...

    def close(self) -> None:
        """Stop the environments."""
        ...


def row_of(observation: Any) -> Transitions:
    """The shapes of one transition, given those of an observation."""
    number: Any = partial(jax.ShapeDtypeStruct, ())
    flag = number(jnp.bool_)
    return Transitions(observation, number(jnp.int32), number(jnp.float32), flag, observation, flag)


def nonfinite(rows: Transitions) -> Any:
    """Which rows of experience have a reward or an observation that is not finite.

    Takes JAX's arrays and NumPy's alike, as `without` does.
    """
    library = _library(rows)
    fine = library.isfinite(rows.reward)
    for seen in (rows.observation, rows.next_observation):
        fine &= library.isfinite(seen).reshape(len(fine), -1).all(axis=1)
    return ~fine & rows.valid


def without(rows: Transitions, bad: Any) -> Transitions:
    """The rows, bad ones made harmless and marked as no experience."""
    finite = partial(_library(rows).nan_to_num, nan=0.0, posinf=0.0, neginf=0.0)
    return jax.tree.map(finite, rows)._replace(valid=rows.valid & ~bad)


def _library(rows: Transitions) -> Any:
    return np if isinstance(rows.reward, np.ndarray) else jnp
