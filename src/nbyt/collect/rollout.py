"""Rollouts: T steps of N environments, time first, and advantages by GAE."""

from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Shaped

from nbyt.policy.distributions import Head
from nbyt.rng import streams


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


AnyArray = TypeVar("AnyArray", np.ndarray, jax.Array)


def gae(
    rollout: Rollout, gamma: Float[Array, ""] | float, lam: Float[Array, ""] | float
) -> Float[Array, "T N"]:
    """Estimate the advantage of every step of a rollout by GAE.

    A_t = delta_t + gamma lam A_{t+1} within an episode, with
    delta_t = r_t + gamma V(s_{t+1}) - V(s_t). The sum is cut at the end of the rollout and of every
    episode. After a time limit V(s_{t+1}) is the value of the episode's final observation, after
    a termination it is 0.

    Parameters
    ----------
    rollout : Rollout
        T steps of N environments, with the critic's values.
    gamma : float
        Discount of a step.
    lam : float
        Lambda of GAE: 0 trusts the critic after one step, 1 waits for the rewards.

    Returns
    -------
    Float[Array, "T N"]
        Advantages; 0 in rows that are not experience (`rollout.valid` is False).

    Examples
    --------
    Two steps of one env, no critic, and a reward of 1 in the second step:

    >>> import jax.numpy as jnp
    >>> from nbyt.collect.rollout import Rollout
    >>> zero, no = jnp.zeros((2, 1)), jnp.zeros((2, 1), bool)
    >>> rollout = Rollout(
    ...     observation=zero, action=zero, log_prob=zero, value=zero,
    ...     reward=jnp.array([[0.0], [1.0]]), terminated=no, truncated=no, valid=~no,
    ...     final_value=zero, last_value=jnp.zeros(1),
    ... )
    >>> gae(rollout, gamma=0.5, lam=0.5).tolist()
    [[0.25], [1.0]]
    """
    delta, ended = td_errors(rollout, gamma)
    return discounted_sums(delta, jnp.where(ended, 0.0, gamma * lam))


def td_errors(rollout: Rollout, gamma: Any) -> tuple[Float[Array, "T N"], Array]:
    """Return delta, 0 in rows that are not experience, and where the sum over later ones is cut."""
    delta = rollout.reward + gamma * next_value(rollout) - rollout.value
    ended = rollout.terminated | rollout.truncated | ~rollout.valid
    return jnp.where(rollout.valid, delta, 0.0), ended


def discounted_sums(delta: AnyArray, decay: AnyArray) -> AnyArray:
    """Return A_t = delta_t + decay_t A_{t+1} along the first axis, 0 after its end.

    JAX arrays are summed by a compiled scan, NumPy arrays by NumPy in their own precision.
    """
    if not isinstance(delta, np.ndarray):
        zero = jnp.zeros(delta.shape[1:], delta.dtype)
        return jax.lax.scan(_backwards, zero, (delta, decay), reverse=True)[1]
    sums, later = np.empty_like(delta), np.zeros(delta.shape[1:])
    for time in reversed(range(len(delta))):
        later, sums[time] = _backwards(later, (delta[time], decay[time]))
    return sums


def fragment_sums(delta: AnyArray, decay: AnyArray, steps: int) -> AnyArray:
    """Return `discounted_sums` of [T, N], cut after every `steps` rows.

    Rows after the last whole fragment are left out.
    """
    rows = len(delta) // steps * steps
    folded = (x[:rows].reshape(-1, steps, x.shape[1]).swapaxes(0, 1) for x in (delta, decay))
    return discounted_sums(*folded).swapaxes(0, 1).reshape(rows, -1)


def _backwards(later: Any, row: tuple[Any, Any]) -> tuple[Any, Any]:
    delta, decay = row
    advantage = delta + decay * later
    return advantage, advantage
