"""Generalised advantage estimation over a rollout [T, N]."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from nbyt.collect.rollout import Rollout, next_value


def gae(
    rollout: Rollout, gamma: Float[Array, ""] | float, lam: Float[Array, ""] | float
) -> Float[Array, "T N"]:
    """Advantages, cut at the rollout's end and at the end of every episode.

    A_t = delta_t + gamma lam A_{t+1} within an episode, delta_t = r_t + gamma V(t+1) - V(t).
    Rows that are not experience have advantage 0.
    """
    delta = rollout.reward + gamma * next_value(rollout) - rollout.value
    ended = rollout.terminated | rollout.truncated
    weight = jnp.where(ended | ~rollout.valid, 0.0, gamma * lam)
    delta = jnp.where(rollout.valid, delta, 0.0)
    _, advantage = jax.lax.scan(
        _backwards, jnp.zeros_like(rollout.last_value), (delta, weight), reverse=True
    )
    return advantage


def _backwards(later: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    delta, weight = row
    advantage = delta + weight * later
    return advantage, advantage


def explained_variance(
    value: Float[Array, " B"], target: Float[Array, " B"], valid: Float[Array, " B"]
) -> Float[Array, ""]:
    """1 - Var(target - value) / Var(target): 1 for a perfect critic, 0 for a constant one."""
    count = jnp.maximum(valid.sum(), 1.0)

    def variance(x: jax.Array) -> jax.Array:
        mean = jnp.sum(x * valid) / count
        return jnp.sum((x - mean) ** 2 * valid) / count

    spread = variance(target)
    return jnp.where(spread > 0, 1.0 - variance(target - value) / spread, jnp.nan)
