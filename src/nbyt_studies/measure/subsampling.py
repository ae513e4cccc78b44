"""Sub-sampling: how mini-batch gradients scatter around the gradient of their batch.

All at ratio 1, before the first gradient step, where a mini-batch's gradient is the mean of its
steps' contributions.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from nbyt.gradients.products import Layer, group_sums, grouped, layers, paired
from nbyt.objective.ppo import Batch
from nbyt.policy.actor_critic import ActorCritic, Params


class Scatter(NamedTuple):
    """Mini-batches of one scheme around G_B, epoch by epoch.

    square: the mean of |G_mb - G_B|². centre: |mean of G_mb - G_B|², 0 where each sample is used
    once. along: the mean of G_mb along G_B, in units of its length; 1 where they agree.
    """

    square: Float[Array, " epochs"]
    centre: Float[Array, " epochs"]
    along: Float[Array, " epochs"]


class Subsampled(NamedTuple):
    """One batch: its gradient G_B, the mean of |g_i|² over its steps, and its mini-batches.

    scatter: one for each size.
    """

    gradient: Float[Array, " P"]
    mean_square: Float[Array, ""]
    scatter: tuple[Scatter, ...]


@partial(jax.jit, static_argnames=("policy", "part", "joined"))
def subsample(
    policy: ActorCritic,
    params: Params,
    part: str,
    batch: Batch,
    weight: Float[Array, " B"],
    indices: Int[Array, "epochs pieces piece"],
    joined: tuple[int, ...] = (1,),
) -> Subsampled:
    """What mini-batches of a batch do to one gradient; weight: each step's advantage.

    part: "actor" or "critic". joined: how many neighbouring pieces make a mini-batch, for each
    size; so all sizes share the sums over the smallest.
    """
    rows = layers(policy, params, batch.observation, batch.action, (part,))
    whole = grouped(rows, 1)
    gradient = group_sums(whole, {part: weight[None]})[0] / weight.size
    squares = weight**2 * paired(whole, whole, part, part)[0]
    scatter = jax.lax.map(partial(_scatter, part, rows, weight, gradient, joined), indices)
    return Subsampled(gradient, squares.mean(), scatter)


@partial(jax.jit, static_argnames=("policy", "part"))
def minibatch_gradients(
    policy: ActorCritic,
    params: Params,
    part: str,
    batch: Batch,
    weight: jax.Array,
    indices: Int[Array, "minibatches minibatch"],
) -> Float[Array, "minibatches P"]:
    """The gradient of each mini-batch, written out."""
    rows = layers(policy, params, batch.observation, batch.action, (part,))
    return _means(part, rows, weight, indices)


def _means(
    part: str, rows: list[Layer], weight: jax.Array, indices: jax.Array
) -> Float[Array, "minibatches P"]:
    picked = jax.tree.map(lambda x: x[indices], rows)
    return group_sums(picked, {part: weight[indices]}) / indices.shape[-1]


def _scatter(
    part: str,
    rows: list[Layer],
    weight: jax.Array,
    gradient: Float[Array, " P"],
    joined: tuple[int, ...],
    indices: Int[Array, "pieces piece"],
) -> tuple[Scatter, ...]:
    """One epoch, for each size."""
    apart = _means(part, rows, weight, indices) - gradient
    centre = apart.mean(0)
    along = 1 + centre @ gradient / (gradient @ gradient)
    minibatches = [apart.reshape(-1, count, gradient.size).mean(1) for count in joined]
    return tuple(
        Scatter(jnp.sum(one**2, axis=-1).mean(), centre @ centre, along) for one in minibatches
    )
