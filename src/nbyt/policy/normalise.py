"""Running moments, for normalising observations and rewards."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

CLIP = 10.0
TINY = 1e-8


class RunningMoments(NamedTuple):
    """Count, mean and variance of values so far."""

    seen: jax.Array
    mean: jax.Array
    variance: jax.Array


def fresh(shape: tuple[int, ...]) -> RunningMoments:
    """Return moments before any data: mean 0, variance 1, with next to no weight."""
    return RunningMoments(jnp.float32(1e-4), jnp.zeros(shape), jnp.ones(shape))


def update(
    moments: RunningMoments, values: Float[Array, "B ..."], weight: Float[Array, " B"]
) -> RunningMoments:
    """Add the rows of `values` whose weight is 1 to the moments (Chan's merge)."""
    spread = weight.reshape(-1, *(1,) * (values.ndim - 1))
    count = jnp.sum(weight)
    mean = jnp.sum(values * spread, axis=0) / jnp.maximum(count, 1.0)
    variance = jnp.sum((values - mean) ** 2 * spread, axis=0) / jnp.maximum(count, 1.0)
    total = moments.seen + count
    shift = mean - moments.mean
    merged = moments.variance * moments.seen + variance * count
    merged = merged + shift**2 * moments.seen * count / total
    return RunningMoments(total, moments.mean + shift * count / total, merged / total)


def standardise(moments: RunningMoments, values: jax.Array) -> jax.Array:
    """Scale values to mean 0 and variance 1 under the moments, clipped to +-10."""
    scaled = (values - moments.mean) / jnp.sqrt(moments.variance + TINY)
    return jnp.clip(scaled, -CLIP, CLIP)


def rescale(moments: RunningMoments, values: jax.Array) -> jax.Array:
    """Divide values by the standard deviation (for rewards), clipped to +-10."""
    return divided(values, spread(moments))


def spread(moments: RunningMoments) -> jax.Array:
    return jnp.sqrt(moments.variance + TINY)


def divided(values: jax.Array, scale: jax.Array | float) -> jax.Array:
    """Divide rewards by their scale, clipped to +-10."""
    return jnp.clip(values / scale, -CLIP, CLIP)
