"""DQN: the learner, and gradient steps on mini-batches of transitions, as pure functions."""

from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

from nbyt.objective.dqn import Rates, Seen, Transitions, dqn_loss
from nbyt.policy.q_policy import QPolicy, uniform_weights, weights_of
from nbyt.rng import stream
from nbyt.train.dqn_plan import DQNSettings
from nbyt.train.flat import flat_if_small

_RMSPROP_DECAY = 0.99


class QLearner(NamedTuple):
    """All that learning carries from one gradient step to the next."""

    weights: dict[str, Any]
    target: dict[str, Any]
    optimiser: Any


def new_learner(policy: QPolicy, settings: DQNSettings, key: jax.Array) -> QLearner:
    """A learner before its first gradient step; its target network begins as a copy."""
    own = stream(key, "policy")
    if settings.initial == "uniform":
        return with_weights(settings, uniform_weights(policy, own))
    return with_weights(settings, weights_of(policy.init(own)))


def with_weights(settings: DQNSettings, weights: dict[str, Any]) -> QLearner:
    """A learner that begins with these weights."""
    # A copy, because both are given away to compiled programs, which take no array twice.
    return QLearner(
        weights, jax.tree.map(jnp.copy, weights), optimiser(settings, weights).init(weights)
    )


def rates_of(settings: DQNSettings) -> Rates:
    """The settings' numbers as arrays."""
    values = (settings.gamma, settings.huber, settings.target_mix, settings.learning_rate)
    return Rates(*(jnp.float32(value) for value in values))


def improve(
    policy: QPolicy,
    settings: DQNSettings,
    learner: QLearner,
    minibatches: Transitions,
    rates: Rates,
) -> tuple[QLearner, Seen]:
    """The learner after a gradient step on each mini-batch [K, m, ...]; means of what they show."""
    step = partial(_gradient_step, policy, settings, learner.target, rates)
    carried = (learner.weights, learner.optimiser)
    (weights, state), seen = jax.lax.scan(step, carried, minibatches)
    means = jax.tree.map(lambda values: values.mean(0), seen)
    return QLearner(weights, learner.target, state), means


def copied(learner: QLearner, mix: Float[Array, ""]) -> QLearner:
    """The learner, so much of its network copied to the target network; 1 is all of it."""

    def mixed(new: jax.Array, old: jax.Array) -> jax.Array:
        return mix * new + (1 - mix) * old

    return learner._replace(target=jax.tree.map(mixed, learner.weights, learner.target))


def optimiser(settings: DQNSettings, weights: Any) -> optax.GradientTransformation:
    """What turns a gradient into a direction; steps are that times the learning rate."""
    kinds = {
        "adam": optax.scale_by_adam,
        "rmsprop": partial(optax.scale_by_rms, _RMSPROP_DECAY),
        "sgd": optax.identity,
    }
    clip = optax.clip_by_global_norm(settings.max_grad_norm)
    return flat_if_small(optax.chain(clip, kinds[settings.optimizer]()), weights)


def _gradient_step(
    policy: QPolicy,
    settings: DQNSettings,
    target: dict[str, Any],
    rates: Rates,
    carried: tuple[dict[str, Any], Any],
    rows: Transitions,
) -> tuple[tuple[dict[str, Any], Any], Seen]:
    weights, state = carried
    loss = partial(dqn_loss, policy, target=target, rows=rows, rates=rates)
    gradient, seen = jax.grad(partial(loss, double=settings.double), has_aux=True)(weights)
    change, state = optimiser(settings, weights).update(gradient, state)
    weights = jax.tree.map(lambda w, c: w - rates.learning_rate * c, weights, change)
    return (weights, state), seen


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
