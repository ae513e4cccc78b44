"""Drift: how far one update's gradient steps lead away from the gradient that it began with.

Before its first gradient step an update's policy is the one that collected the batch, so every
probability ratio is 1 and the loss has the gradient G_B. From then on policy and batch part.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, Shaped

from nbyt.collect.pool import collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import UsageError
from nbyt.policy.actor_critic import ActorCritic, Params, Stage
from nbyt.policy.distributions import Categorical, Gaussian, Head
from nbyt.results.values import Data
from nbyt.stats import mean
from nbyt.training.algorithms.ppo import fresh_optimiser, gradient_step, part_loss, trained
from nbyt.training.losses import Batch, Coefficients, normalised
from nbyt.training.plan import PPOSettings
from nbyt.training.sources import coefficients_of
from nbyt_studies.minibatch_tasks import Moment, plain


@partial(jax.jit, static_argnames=("policy", "settings"))
def contribution_gap(
    policy: ActorCritic,
    settings: PPOSettings,
    params: Params,
    batch: Batch,
    coefficients: Coefficients,
) -> Float[Array, ""]:
    """Return |gradient of the actor's loss + mean contribution| / |mean contribution|, of a batch.

    The loss is the one that training makes small. At ratio 1 this is rounding; elsewhere it says
    how far the loss has left the mean contribution.
    """
    loss = partial(part_loss, policy, settings, "actor", params.observation, coefficients)
    gradient = jax.grad(loss, has_aux=True)({"actor": params.actor}, batch)[0]["actor"]
    if settings.normalise_advantages == "minibatch":
        batch = batch._replace(advantage=normalised(batch))
    mean = mean_contribution(policy, params, batch)
    return _length(jax.tree.map(jnp.add, gradient, mean)) / _length(mean)


def mean_contribution(policy: ActorCritic, params: Params, batch: Batch) -> Any:
    """Return the mean of advantage times score over a batch's steps, each by its own gradient.

    A tree like the actor's weights.
    """

    def log_prob(actor: Any, observation: jax.Array, action: jax.Array) -> jax.Array:
        parameters = policy.parameters(params._replace(actor=actor), observation[None])
        return policy.head.log_prob(parameters, action[None])[0]

    each = jax.vmap(jax.grad(log_prob), (None, 0, 0))
    scores = each(params.actor, batch.observation, batch.action)
    share = batch.advantage * batch.valid / batch.valid.sum()
    return jax.tree.map(lambda score: jnp.tensordot(share, score, 1), scores)


def _length(tree: Any) -> Float[Array, ""]:
    return jnp.sqrt(sum(jnp.vdot(leaf, leaf) for leaf in jax.tree.leaves(tree)))


def visited(
    env: DeviceEnv | HostEnv, stage: Stage, *, chains: int, points: int, apart: int, seed: int
) -> Float[np.ndarray, "n k ..."]:
    """Collect observations of independent chains, `points` of each that are `apart` steps apart.

    Chains begin at random phases of an episode. Two stages with the same seed have the
    same random streams.
    """
    plan = PoolPlan(chains, points * apart, 0, 1.0, seed)
    pool = collect_pool(env, stage.policy, stage.params, plan)
    return np.swapaxes(pool.observation[apart - 1 :: apart], 0, 1)


def policy_divergence(
    before: Stage, after: Stage, observation: np.ndarray
) -> Float[np.ndarray, "..."]:
    """Return KL(before | after) of the actions at each observation."""
    some = jnp.asarray(observation)
    return np.asarray(_divergence(before.policy, before.params, after.params, some), float)


@partial(jax.jit, static_argnums=0)
def _divergence(
    policy: ActorCritic, before: Params, after: Params, observation: Shaped[Array, "..."]
) -> Float[Array, "..."]:
    first, second = (policy.parameters(params, observation) for params in (before, after))
    return divergence(policy.head, first, second)


def divergence(
    head: Head, first: Float[Array, "... P"], second: Float[Array, "... P"]
) -> Float[Array, "..."]:
    """Return KL of two action distributions of one family, by their parameters."""
    if isinstance(head, Categorical):
        log = jax.nn.log_softmax(first), jax.nn.log_softmax(second)
        return jnp.sum(jnp.exp(log[0]) * (log[0] - log[1]), axis=-1)
    if isinstance(head, Gaussian):
        (mean, log_std), (other, other_log) = (jnp.split(p, 2, axis=-1) for p in (first, second))
        ratio = jnp.exp(2 * (log_std - other_log))
        apart = ((mean - other) * jnp.exp(-other_log)) ** 2
        return 0.5 * jnp.sum(ratio + apart - 1 - jnp.log(ratio), axis=-1)
    raise UsageError(
        f"no divergence for {type(head).__name__}",
        where="policy",
        fix="use an env with a Discrete or Box action space",
    )


def actor_step(before: Stage, after: Stage) -> Float[np.ndarray, " p"]:
    """Return what an update added to the actor's parameters."""
    first, second = (
        np.asarray(ravel_pytree((one.params.actor, one.params.torso))[0], float)
        for one in (before, after)
    )
    return second - first


class Drift(NamedTuple):
    """One update, followed from G_B on.

    Of the whole batch, before every few gradient steps and after the last: the mean |ratio - 1|,
    the share of samples whose ratio is outside the clip range, the cosine of the loss's gradient
    with G_B, and its length in units of G_B's. Of every gradient step's own mini-batch: the same
    without the length.
    """

    ratio: Float[Array, " snapshots"]
    clip_fraction: Float[Array, " snapshots"]
    cosine: Float[Array, " snapshots"]
    length: Float[Array, " snapshots"]
    minibatch_ratio: Float[Array, " gradient_steps"]
    minibatch_clip_fraction: Float[Array, " gradient_steps"]
    minibatch_cosine: Float[Array, " gradient_steps"]


class _Snapshot(NamedTuple):
    ratio: jax.Array
    clip_fraction: jax.Array
    cosine: jax.Array
    length: jax.Array


class _Watch(NamedTuple):
    """The loss, and a function for the mean |ratio - 1|."""

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
    """Follow one update of the actor's part, step for step as in training.

    Also the optimiser's state at its end.

    settings: their form. part: "actor", or "both" where one program trains both. optimiser: its
    state when the update begins. every: gradient steps between two snapshots of the whole batch, a
    divisor of their number.
    """
    loss = partial(part_loss, policy, settings, part, params.observation, coefficients)
    watch = _Watch(loss, partial(_distance, policy, params))
    weights = trained(params, part)
    begin = jax.grad(loss, has_aux=True)(weights, batch)[0]
    step = partial(_step, settings, watch, begin, batch, rate)
    body = partial(_steps, step, partial(_snapshot, watch, begin), batch)
    carried = (weights, optimiser, jnp.bool_(False))
    cut = indices.reshape(-1, every, indices.shape[-1])
    (weights, optimiser, _), (snapshots, minibatches) = jax.lax.scan(body, carried, cut)
    last = _snapshot(watch, begin, weights, batch)
    whole = jax.tree.map(lambda rows, end: jnp.append(rows, end), snapshots, last)
    return Drift(*whole, *(rows.reshape(-1) for rows in minibatches[:3])), optimiser


def _steps(
    step: Any, snapshot: Any, batch: Batch, carried: tuple[Any, ...], indices: jax.Array
) -> tuple[tuple[Any, ...], tuple[_Snapshot, _Snapshot]]:
    whole = snapshot(carried[0], batch)
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
) -> tuple[tuple[Any, ...], _Snapshot]:
    # The gradient is written twice and computed once: the compiler merges equal terms.
    own = _snapshot(watch, begin, carried[0], jax.tree.map(lambda rows: rows[indices], batch))
    return gradient_step(settings, watch.loss, batch, rate, carried, indices)[0], own


def _snapshot(watch: _Watch, begin: Any, weights: Any, batch: Batch) -> _Snapshot:
    gradient, numbers = jax.grad(watch.loss, has_aux=True)(weights, batch)
    length, unit = (jnp.sqrt(_dot(x, x)) for x in (gradient, begin))
    cosine = _dot(gradient, begin) / (length * unit)
    return _Snapshot(
        watch.distance(weights, batch), numbers["clip_fraction"], cosine, length / unit
    )


def _distance(
    policy: ActorCritic, params: Params, weights: dict[str, Any], batch: Batch
) -> Float[Array, ""]:
    parameters = policy.parameters(params._replace(**weights), batch.observation)
    ratio = jnp.exp(policy.head.log_prob(parameters, batch.action) - batch.log_prob)
    return jnp.sum(jnp.abs(ratio - 1) * batch.valid) / batch.valid.sum()


def _dot(first: Any, second: Any) -> Float[Array, ""]:
    return sum(jax.tree.leaves(jax.tree.map(jnp.vdot, first, second)), jnp.float32(0))


def followed(
    moment: Moment,
    optimiser: Any,
    batch: Batch,
    indices: Int[np.ndarray, "gradient_steps minibatch"],
    every: int,
) -> tuple[Drift, Any]:
    """Follow one update of the actor from the stage; return it and the optimiser's last state."""
    settings, stage = moment.task.settings, moment.stage
    return follow_update(
        stage.policy,
        settings.form,
        "actor",
        stage.params,
        optimiser,
        batch,
        coefficients_of(settings),
        jnp.float32(settings.learning_rate),
        indices,
        every=every,
    )


def optimiser_after(
    moment: Moment, batch: Batch, indices: Int[np.ndarray, "gradient_steps minibatch"], every: int
) -> Any:
    """Return the optimiser's state after an update, which a stage does not keep: as in training."""
    fresh = fresh_optimiser(moment.task.settings, moment.stage.params, "actor")
    return followed(moment, fresh, batch, indices, every)[1]


def along_update(drifts: Sequence[Drift], name: str, steps: int = 1) -> list[Data]:
    """Return a number's means over batches along the update, of `steps` values together.

    The numbers are bounded and often lie at a bound: Student's t is approximate there.
    """
    rows = np.stack([np.reshape(getattr(drift, name), (-1, steps)).mean(-1) for drift in drifts])
    return [plain(replace(mean(column), approximate=True)) for column in rows.T]
