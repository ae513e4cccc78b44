"""What each transition of a replay buffer adds to DQN's gradient, at frozen weights and target."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from nbyt.objective.dqn import Rates, Transitions, dqn_loss
from nbyt.policy.q_policy import QPolicy

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
