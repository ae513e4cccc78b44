"""The gradient of PPO's loss, held against the mean of the steps' contributions."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from nbyt.objective.ppo import Batch, Coefficients, normalised
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.train.ppo import part_loss
from nbyt.train.settings import PPOSettings


@partial(jax.jit, static_argnames=("policy", "settings"))
def contribution_gap(
    policy: ActorCritic,
    settings: PPOSettings,
    params: Params,
    batch: Batch,
    coefficients: Coefficients,
) -> Float[Array, ""]:
    """|gradient of the actor's loss + mean contribution| / |mean contribution|, on a whole batch.

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
    """The mean over a batch's steps of advantage times score, each step by a gradient of its own.

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
