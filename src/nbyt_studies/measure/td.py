"""What each transition of a replay buffer adds to DQN's gradient, at frozen weights and target."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from nbyt.objective.dqn import Rates, Transitions, dqn_loss, td_errors
from nbyt.policy.q_policy import QPolicy

STEP_SIZES = 2.0 ** np.arange(-14, 8)
"""Step sizes that are tried."""


def best_gain(losses: Float[np.ndarray, "k sizes"], before: float) -> float:
    """The mean fall of the loss over k steps, at the step size that is best for all of them."""
    return float(before - losses.mean(axis=0).min())


@partial(jax.jit, static_argnames=("policy", "double"))
def losses_after(
    policy: QPolicy,
    weights: dict[str, Any],
    target: dict[str, Any],
    rows: Transitions,
    rates: Rates,
    gradients: Float[Array, "k P"],
    *,
    double: bool,
) -> Float[Array, "k sizes"]:
    """The loss of all rows after a step against each gradient, for each of `STEP_SIZES`.

    What Q-values are drawn to stays where it was, whatever the step does to the choice of actions.
    """
    flat, unravel = ravel_pytree(weights)
    error, taken = td_errors(policy, weights, target, rows, rates, double=double)
    goal = taken - error

    def loss(gradient: Float[Array, " P"], size: Float[Array, ""]) -> Float[Array, ""]:
        moved = unravel(flat - size * gradient)
        taken = td_errors(policy, moved, target, rows, rates, double=double)[1]
        return optax.losses.huber_loss(taken - goal, delta=rates.huber).mean()

    along = jax.vmap(loss, (None, 0))
    return jax.lax.map(lambda one: along(one, jnp.asarray(STEP_SIZES, jnp.float32)), gradients)


# Transitions whose gradients are made side by side: more would leave the processor's cache.
_CHUNK = 128


@partial(jax.jit, static_argnames=("policy", "double"))
def td_contributions(
    policy: QPolicy,
    weights: dict[str, Any],
    target: dict[str, Any],
    rows: Transitions,
    rates: Rates,
    *,
    double: bool,
) -> Float[Array, "n P"]:
    """The gradient of each transition's loss, written out: a mini-batch's gradient is their mean.

    Rows that are not experience have a gradient of 0, and would count in such a mean: leave them
    out beforehand.
    """

    def contribution(row: Transitions) -> Float[Array, " P"]:
        alone = jax.tree.map(lambda x: x[None], row)
        loss = partial(dqn_loss, policy, target=target, rows=alone, rates=rates, double=double)
        return ravel_pytree(jax.grad(loss, has_aux=True)(weights)[0])[0]

    return jax.lax.map(contribution, jax.tree.map(jnp.asarray, rows), batch_size=_CHUNK)
