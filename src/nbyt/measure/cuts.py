"""Mini-batches of any sizes, as a sampler gives them: their gradients on a real batch.

All at ratio 1, before the first gradient step, as in `subsampling`.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from nbyt.gradients.layers import Layer, layers
from nbyt.gradients.products import group_sums, grouped, paired
from nbyt.minibatch.rules import Minibatches
from nbyt.objective.ppo import Batch
from nbyt.policy.actor_critic import ActorCritic, Params

_AT_ONCE = 8


class Slots(NamedTuple):
    """Mini-batches of different sizes in one array: an index a slot, and its weight in the mean.

    A slot that is not needed has weight 0, and so has a whole mini-batch that is not; `present`
    tells which are.
    """

    indices: Int[np.ndarray, "k size"]
    weight: Float[np.ndarray, "k size"]
    present: Float[np.ndarray, " k"]


class CutBatch(NamedTuple):
    """One batch: its gradient G_B, the mean of |g_i|², the mean of G_mb and the mean of |G_mb|²."""

    gradient: Float[Array, " P"]
    mean_square: Float[Array, ""]
    mean: Float[Array, " P"]
    square: Float[Array, ""]


def slots(minibatches: Minibatches, count: int, size: int) -> Slots:
    """At most `count` mini-batches of at most `size` samples, in arrays of this shape."""
    indices, weight = np.zeros((count, size), np.int32), np.zeros((count, size), np.float32)
    for row, one in enumerate(minibatches):
        indices[row, : len(one)] = one
        weight[row, : len(one)] = 1 / len(one)
    present = np.arange(count) < len(minibatches)
    return Slots(indices, weight, present.astype(np.float32))


@partial(jax.jit, static_argnames=("policy", "part"))
def cut_batch(
    policy: ActorCritic,
    params: Params,
    part: str,
    batch: Batch,
    advantage: Float[Array, " B"],
    cut: Slots,
) -> CutBatch:
    """What mini-batches do to the gradient of one part, "actor" or "critic"."""
    rows = layers(policy, params, batch.observation, batch.action, (part,))
    whole = grouped(rows, 1)
    gradient = group_sums(whole, {part: advantage[None]})[0] / advantage.size
    squares = advantage**2 * paired(whole, whole, part, part)[0]
    one = partial(_gradient, part, rows, advantage)
    found = jax.lax.map(one, (cut.indices, cut.weight), batch_size=_AT_ONCE)
    share = cut.present / cut.present.sum()
    square = share @ jnp.sum(found**2, axis=-1)
    return CutBatch(gradient, squares.mean(), share @ found, square)


def _gradient(
    part: str, rows: list[Layer], advantage: jax.Array, slot: tuple[jax.Array, jax.Array]
) -> Float[Array, " P"]:
    """The gradient of one mini-batch."""
    indices, weight = slot
    picked = jax.tree.map(lambda x: x[indices][None], rows)
    return group_sums(picked, {part: (weight * advantage[indices])[None]})[0]
