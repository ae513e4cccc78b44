"""PPO's losses on a mini-batch, each with numbers to report."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Shaped

from nbyt.policy.actor_critic import ActorCritic, Params

_TINY = 1e-8


class Batch(NamedTuple):
    """Samples without their order: the rollout buffer flattened, or a mini-batch of it.

    target is what the critic is drawn to, value + advantage; valid is 1 for experience, else 0.
    """

    observation: Shaped[Array, "B ..."]
    action: Shaped[Array, "B ..."]
    log_prob: Float[Array, " B"]
    value: Float[Array, " B"]
    advantage: Float[Array, " B"]
    target: Float[Array, " B"]
    valid: Float[Array, " B"]


class Coefficients(NamedTuple):
    """Numbers of the objective; traced, so that changing one compiles nothing anew.

    value_coefficient weighs (V - target)^2 / 2.
    """

    gamma: jax.Array
    lam: jax.Array
    clip: jax.Array
    value_clip: jax.Array
    entropy_coefficient: jax.Array
    value_coefficient: jax.Array


class ActorNumbers(NamedTuple):
    """Means over a mini-batch."""

    policy_loss: jax.Array
    entropy: jax.Array
    approximate_kl: jax.Array
    clip_fraction: jax.Array


def mean(x: Float[Array, " B"], valid: Float[Array, " B"]) -> Float[Array, ""]:
    """Average over the rows that are experience."""
    return jnp.sum(x * valid) / jnp.maximum(jnp.sum(valid), 1.0)


def normalised(batch: Batch) -> Float[Array, " B"]:
    """Normalise advantages to mean 0 and standard deviation 1 over the batch's experience."""
    centred = batch.advantage - mean(batch.advantage, batch.valid)
    return centred / (jnp.sqrt(mean(centred**2, batch.valid)) + _TINY)


def actor_loss(
    policy: ActorCritic, params: Params, batch: Batch, coefficients: Coefficients
) -> tuple[Float[Array, ""], ActorNumbers]:
    """Return the clipped surrogate loss less the entropy bonus, and its numbers."""
    parameters = policy.parameters(params, batch.observation)
    log_ratio = policy.head.log_prob(parameters, batch.action) - batch.log_prob
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1 - coefficients.clip, 1 + coefficients.clip)
    gain = jnp.minimum(ratio * batch.advantage, clipped * batch.advantage)
    outside = jnp.abs(ratio - 1) > coefficients.clip
    rows = (-gain, policy.head.entropy(parameters), ratio - 1 - log_ratio, outside)
    # One reduction for all four: on CPU a reduction costs more than what it reduces.
    weight = batch.valid / jnp.maximum(jnp.sum(batch.valid), 1.0)
    numbers = ActorNumbers(*(jnp.stack([row.astype(jnp.float32) for row in rows]) @ weight))
    loss = numbers.policy_loss - coefficients.entropy_coefficient * numbers.entropy
    return loss, jax.lax.stop_gradient(numbers)


def critic_loss(
    policy: ActorCritic,
    params: Params,
    batch: Batch,
    coefficients: Coefficients,
    *,
    value_clip: bool,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Return half the critic's mean squared error, times its coefficient and without."""
    value = policy.value(params, batch.observation)
    error = (value - batch.target) ** 2
    if value_clip:
        near = batch.value + jnp.clip(
            value - batch.value, -coefficients.value_clip, coefficients.value_clip
        )
        error = jnp.maximum(error, (near - batch.target) ** 2)
    loss = 0.5 * mean(error, batch.valid)
    return coefficients.value_coefficient * loss, jax.lax.stop_gradient(loss)
