"""Rollout: T steps of N environments, time first."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Shaped

from nbyt.policy.distributions import Head
from nbyt.rng import stream, streams


class Rollout(NamedTuple):
    """N environments' T steps under one policy and critic.

    action is the policy's own (unclipped); valid is False on rows that are not experience;
    final_value is the critic's value of the last observation of an episode that was truncated in
    that step, 0 elsewhere; last_value is the value of where each env stands afterwards.
    """

    observation: Shaped[Array, "T N ..."]
    action: Shaped[Array, "T N ..."]
    log_prob: Float[Array, "T N"]
    value: Float[Array, "T N"]
    reward: Float[Array, "T N"]
    terminated: Bool[Array, "T N"]
    truncated: Bool[Array, "T N"]
    valid: Bool[Array, "T N"]
    final_value: Float[Array, "T N"]
    last_value: Float[Array, " N"]


class Episodes(NamedTuple):
    """The episodes that ended in a rollout: how many, and the sums over them."""

    episodes: Any
    returns: Any
    lengths: Any


def next_value(rollout: Rollout) -> Float[Array, "T N"]:
    """Return V(s_{t+1}) of every step of a rollout, as the advantage needs it."""
    return next_values(
        rollout.value,
        rollout.last_value,
        rollout.final_value,
        rollout.terminated,
        rollout.truncated,
    )


def next_values(
    value: Float[Array, "T N"],
    last_value: Float[Array, " N"],
    final_value: Float[Array, "T N"],
    terminated: Bool[Array, "T N"],
    truncated: Bool[Array, "T N"],
) -> Float[Array, "T N"]:
    """Return V(s_{t+1}) of every step.

    0 after a death, the final observation's value after a time limit, else the next row's value.
    """
    following = jnp.concatenate([value[1:], last_value[None]])
    cut = jnp.where(truncated, final_value, following)
    return jnp.where(terminated, 0.0, cut)


def action_noise(head: Head, key: jax.Array, steps: int, envs: int) -> Float[Array, "T N ..."]:
    """Draw noise for every action; env i's does not depend on how many envs there are."""
    keys = streams(key, "act", envs)
    return jax.vmap(lambda one: head.noise(one, (steps,)), out_axes=1)(keys)


def env_keys(key: jax.Array, role: str, steps: int, envs: int) -> jax.Array:
    """Draw a key for every step of every env, [T, N]; env i's do not depend on N."""
    keys = streams(key, role, envs)
    return jax.vmap(lambda one: jax.random.split(one, steps), out_axes=1)(keys)


def update_key(key: jax.Array, update: int | jax.Array) -> jax.Array:
    """Return the key of one update's rollout."""
    return stream(key, "update", update)
