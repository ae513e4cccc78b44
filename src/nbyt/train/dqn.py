"""DQN: the learner, and gradient steps on mini-batches of transitions, as pure functions."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from nbyt.objective.dqn import Rates, Seen, Transitions, dqn_loss
from nbyt.policy.q_policy import QPolicy, uniform_weights, weights_of
from nbyt.rng import stream
from nbyt.train.dqn_settings import DQNSettings
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
