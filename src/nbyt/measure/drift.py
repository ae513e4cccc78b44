"""Drift: how far one update's gradient steps lead away from the gradient that it began with.

Before its first gradient step an update's policy is the one that collected the batch, so every
probability ratio is 1 and the loss has the gradient G_B. From then on policy and batch part.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from nbyt.objective.ppo import Batch, Coefficients
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.train.ppo import gradient_step, part_loss, trained
from nbyt.train.settings import PPOSettings


class Drift(NamedTuple):
    """One update, watched from G_B on.

    Of the whole batch, before every few gradient steps and after the last: the mean |ratio - 1|,
    the share of samples whose ratio is outside the clip range, the cosine of the loss's gradient
    with G_B, and its length in units of G_B's. Of every gradient step's own mini-batch: the same
    without the length.
    """

    ratio: Float[Array, " looks"]
    clip_fraction: Float[Array, " looks"]
    cosine: Float[Array, " looks"]
    length: Float[Array, " looks"]
    minibatch_ratio: Float[Array, " gradient_steps"]
    minibatch_clip_fraction: Float[Array, " gradient_steps"]
    minibatch_cosine: Float[Array, " gradient_steps"]


class _Look(NamedTuple):
    ratio: jax.Array
    clip_fraction: jax.Array
    cosine: jax.Array
    length: jax.Array


class _Watch(NamedTuple):
    """What a look needs: the loss, and a function for the mean |ratio - 1|."""

    loss: Any
    distance: Any


@partial(jax.jit, static_argnames=("policy", "settings", "part", "every"))
def follow_update(
    policy: ActorCritic,
    settings: PPOSettings,
    part: str,
    params: Params,
    optimiser: Any,
    batch: Batch,
    coefficients: Coefficients,
    rate: Float[Array, ""],
    indices: Int[Array, "gradient_steps minibatch"],
    every: int = 1,
) -> tuple[Drift, Any]:
    """What one update of the actor's part meets on its way, step for step as in training.

    Also the optimiser's state at its end.

    settings: their form. part: "actor", or "both" where one program trains both. optimiser: its
    state when the update begins. every: gradient steps between two looks at the whole batch, a
    divisor of their number.
    """
    loss = partial(part_loss, policy, settings, part, params.observation, coefficients)
    watch = _Watch(loss, partial(_distance, policy, params))
    weights = trained(params, part)
    begin = jax.grad(loss, has_aux=True)(weights, batch)[0]
    step = partial(_step, settings, watch, begin, batch, rate)
    body = partial(_steps, step, partial(_look, watch, begin), batch)
    carried = (weights, optimiser, jnp.bool_(False))
    cut = indices.reshape(-1, every, indices.shape[-1])
    (weights, optimiser, _), (looks, own) = jax.lax.scan(body, carried, cut)
    last = _look(watch, begin, weights, batch)
    whole = jax.tree.map(lambda rows, end: jnp.append(rows, end), looks, last)
    return Drift(*whole, *(rows.reshape(-1) for rows in own[:3])), optimiser


def _steps(
    step: Any, look: Any, batch: Batch, carried: tuple[Any, ...], indices: jax.Array
) -> tuple[tuple[Any, ...], tuple[_Look, _Look]]:
    """A look at the whole batch, then some gradient steps."""
    whole = look(carried[0], batch)
    carried, own = jax.lax.scan(step, carried, indices)
    return carried, (whole, own)


def _step(
    settings: PPOSettings,
    watch: _Watch,
    begin: Any,
    batch: Batch,
    rate: jax.Array,
    carried: tuple[Any, ...],
    indices: jax.Array,
) -> tuple[tuple[Any, ...], _Look]:
    # The gradient is written twice and computed once: the compiler merges equal terms.
    own = _look(watch, begin, carried[0], jax.tree.map(lambda rows: rows[indices], batch))
    return gradient_step(settings, watch.loss, batch, rate, carried, indices)[0], own


def _look(watch: _Watch, begin: Any, weights: Any, batch: Batch) -> _Look:
    gradient, numbers = jax.grad(watch.loss, has_aux=True)(weights, batch)
    length, unit = (jnp.sqrt(_dot(x, x)) for x in (gradient, begin))
    cosine = _dot(gradient, begin) / (length * unit)
    return _Look(watch.distance(weights, batch), numbers["clip_fraction"], cosine, length / unit)


def _distance(
    policy: ActorCritic, params: Params, weights: dict[str, Any], batch: Batch
) -> Float[Array, ""]:
    """The mean |ratio - 1| over a batch's experience."""
    parameters = policy.parameters(params._replace(**weights), batch.observation)
    ratio = jnp.exp(policy.head.log_prob(parameters, batch.action) - batch.log_prob)
    return jnp.sum(jnp.abs(ratio - 1) * batch.valid) / batch.valid.sum()


def _dot(first: Any, second: Any) -> Float[Array, ""]:
    return sum(jax.tree.leaves(jax.tree.map(jnp.vdot, first, second)), jnp.float32(0))
