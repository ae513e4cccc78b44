"""The loss of DQN: the error of Q-values against reward plus target network."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Shaped

from nbyt.policy.q_policy import QPolicy, greedy


class Transitions(NamedTuple):
    """Steps taken one by one, each with all that a TD error needs.

    terminated: nothing comes after; a time limit is no such end, and there `next_observation` is
    the last one of the episode. valid: False for a row that is not experience.
    """

    observation: Shaped[Array, "m ..."]
    action: Int[Array, " m"]
    reward: Float[Array, " m"]
    terminated: Bool[Array, " m"]
    next_observation: Shaped[Array, "m ..."]
    valid: Bool[Array, " m"]


class Rates(NamedTuple):
    """Numbers of the settings, as arrays so that changing one compiles nothing anew.

    huber: TD errors beyond it count linearly. target_mix: how much of the network a copy to the
    target network brings.
    """

    gamma: Float[Array, ""]
    huber: Float[Array, ""]
    target_mix: Float[Array, ""]
    learning_rate: Float[Array, ""]


class TDNumbers(NamedTuple):
    """Means over a mini-batch: the loss, the Q-values of the actions taken, the |TD error|."""

    loss: jax.Array
    mean_q: jax.Array
    td_error: jax.Array


def dqn_loss(
    policy: QPolicy,
    weights: dict[str, Any],
    target: dict[str, Any],
    rows: Transitions,
    rates: Rates,
    *,
    double: bool,
) -> tuple[Float[Array, ""], TDNumbers]:
    """Return the mean Huber loss of a mini-batch, and its numbers."""
    error, taken = td_errors(policy, weights, target, rows, rates, double=double)
    weight = rows.valid / jnp.maximum(rows.valid.sum(), 1)
    loss = optax.losses.huber_loss(error, delta=rates.huber) @ weight
    return loss, TDNumbers(loss, taken @ weight, jnp.abs(error) @ weight)


def td_errors(
    policy: QPolicy,
    weights: dict[str, Any],
    target: dict[str, Any],
    rows: Transitions,
    rates: Rates,
    *,
    double: bool,
) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
    """Return Q-value less target for each row, and the Q-value; no gradient reaches the target.

    double: the action of the next step is chosen by the weights and valued by the target network.
    """
    values = policy.values(greedy(weights), rows.observation)
    taken = _of(values, rows.action)
    next_values = policy.values(greedy(target), rows.next_observation)
    chooser = policy.values(greedy(weights), rows.next_observation) if double else next_values
    following = _of(next_values, chooser.argmax(axis=-1))
    goal = rows.reward + rates.gamma * jnp.where(rows.terminated, 0.0, following)
    return taken - jax.lax.stop_gradient(goal), taken


def _of(values: Float[Array, "m A"], action: Int[Array, " m"]) -> Float[Array, " m"]:
    # A product with the one-hot action, whose derivative is no scatter.
    return jnp.sum(values * jax.nn.one_hot(action, values.shape[-1]), axis=-1)
