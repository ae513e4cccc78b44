"""A look at a rollout: which T's advantages would have served the actor best.

For each env, the gradient that all other envs give with advantages that wait for all rewards is a
direction: what rollouts without an end would have taught. Every step of the env has a score along
it; the mean product of these scores with the advantages of a T is that T's agreement, G* · E G(T)
without bias, because envs are never paired with themselves.

It stands for alignment: advantages are scaled to spread 1 at every T, as PPO does, and the noise of
the actor's gradient is taken as the same for all T, so that the order of the agreements is the
order of the alignments. A look costs a tenth of an update and no env step: the rollout is trained
on like any other.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from nbyt.collect.rollout import Rollout, next_value
from nbyt.objective.ppo import Coefficients
from nbyt.policy.actor_critic import ActorCritic, Params

_TINY = 1e-12


@partial(jax.jit, static_argnames=("policy", "lengths"))
def look(
    policy: ActorCritic,
    params: Params,
    rollout: Rollout,
    coefficients: Coefficients,
    lengths: tuple[int, ...],
) -> Float[Array, " lengths"]:
    """The agreement of every T in `lengths`, in units of the squared score.

    The first half of the rollout's steps is looked at; the second lets their references wait.
    """
    own = rollout.reward.shape[0] // 2
    weights = rollout.valid[:own].astype(jnp.float32)
    delta, ended = _terms(rollout, coefficients.gamma)
    decay = jnp.where(ended, 0.0, coefficients.gamma)
    cut = [_advantages(delta, decay * coefficients.lam, steps)[:own] for steps in lengths]
    waited = _advantages(delta, decay, len(delta))[:own]
    sets = jnp.stack([_scaled(one, weights) for one in (waited, *cut)])
    rows = _by_env(rollout.observation[:own]), _by_env(rollout.action[:own])
    weighed = jax.vmap(_by_env)(sets * weights)
    directions = jax.vmap(partial(_gradient, policy, params))(*rows, weighed[0])
    others = jax.tree.map(lambda each: each.sum(0) - each, directions)
    scores = jax.vmap(partial(_along, policy, params))(*rows, others)
    return jnp.sum(scores * weighed[1:], axis=(1, 2)) / weights.sum() ** 2


def _terms(rollout: Rollout, gamma: jax.Array) -> tuple[Float[Array, "T N"], Bool[Array, "T N"]]:
    """delta, 0 in rows that are no experience, and where the advantage's recursion is cut."""
    delta = rollout.reward + gamma * next_value(rollout) - rollout.value
    ended = rollout.terminated | rollout.truncated | ~rollout.valid
    return jnp.where(rollout.valid, delta, 0.0), ended


def _advantages(
    delta: Float[Array, "T N"], decay: Float[Array, "T N"], steps: int
) -> Float[Array, "T N"]:
    """GAE with the rollout cut into fragments of so many steps."""
    count = len(delta) // steps
    folded = [x[: count * steps].reshape(count, steps, -1).swapaxes(0, 1) for x in (delta, decay)]

    def backwards(later: jax.Array, row: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        advantage = row[0] + row[1] * later
        return advantage, advantage

    _, found = jax.lax.scan(backwards, jnp.zeros_like(folded[0][0]), tuple(folded), reverse=True)
    return found.swapaxes(0, 1).reshape(count * steps, -1)


def _scaled(advantage: Float[Array, "T N"], weights: Float[Array, "T N"]) -> Float[Array, "T N"]:
    """The advantages with mean 0 and spread 1 over the rows that are experience."""
    count = jnp.maximum(weights.sum(), 1.0)
    centred = advantage - jnp.sum(advantage * weights) / count
    return centred / (jnp.sqrt(jnp.sum(centred**2 * weights) / count) + _TINY)


def _by_env(rows: Float[Array, "T N ..."]) -> Float[Array, "N T ..."]:
    return rows.swapaxes(0, 1)


def _log_prob(
    policy: ActorCritic, params: Params, observation: Any, action: Any, trained: Any
) -> Float[Array, " rows"]:
    actor, torso = trained
    own = params._replace(actor=actor, torso=torso)
    return policy.head.log_prob(policy.parameters(own, observation), action)


def _gradient(
    policy: ActorCritic, params: Params, observation: Any, action: Any, weights: Any
) -> Any:
    chances = partial(_log_prob, policy, params, observation, action)
    _, back = jax.vjp(chances, (params.actor, params.torso))
    return back(weights)[0]


def _along(
    policy: ActorCritic, params: Params, observation: Any, action: Any, direction: Any
) -> Float[Array, " rows"]:
    chances = partial(_log_prob, policy, params, observation, action)
    return jax.jvp(chances, ((params.actor, params.torso),), (direction,))[1]
