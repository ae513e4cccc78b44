"""Stage: a frozen policy and critic, from training or built by hand."""

from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp

from nbyt.errors import UsageError
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.distributions import Categorical
from nbyt.policy.networks import Network


@dataclass(frozen=True)
class Stage:
    """A frozen actor-critic: its functions, its parameters, and where it comes from.

    facts: env id, updates and steps made, layout, coefficients; plain JSON values.
    """

    policy: ActorCritic
    params: Params
    facts: dict[str, Any] = field(default_factory=dict)


def table(logits: Any, values: Any) -> Stage:
    """Build a stage from a softmax table [S, A] and a value table [S]."""
    logits, values = jnp.asarray(logits, jnp.float32), jnp.asarray(values, jnp.float32)
    if logits.ndim != 2 or values.shape != logits.shape[:1]:
        raise UsageError(
            f"logits {logits.shape} and values {values.shape} are not a pair of tables",
            where="policy.table",
            fix="give logits as [states, actions] and values as [states]",
        )
    states, actions = logits.shape
    policy = ActorCritic("index", (states,), Categorical(actions), Network("table"))
    return Stage(policy, Params({"logits": logits}, {"values": values}))
