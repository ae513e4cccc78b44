"""The losses of PPO and DQN on a mini-batch, and the optimiser that both use."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Shaped

from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.q_policy import QPolicy, greedy

_TINY = 1e-8
# One flat vector means a handful of operations a step instead of a dozen a layer; above this many
# weights, putting the vector together costs several times what that saves.
_FEW_WEIGHTS = 20_000


class Batch(NamedTuple):
    """Samples without their order: the rollout buffer flattened, or a mini-batch of it.

    target is what the critic is drawn to, value + advantage; valid is 1 for experience, else 0.
    """

    observation: Shaped[Array, "B ..."]
    action: Shaped[Array, "B ..."]
    log_prob: Float[Array, " B"]
    value: Float[Array, " B"]
    advantage: Float[Array, " B"]
    target: Float[Array, " B"]
    valid: Float[Array, " B"]


class Coefficients(NamedTuple):
    """Numbers of the objective; traced, so that changing one compiles nothing anew.

    value_coefficient weighs (V - target)^2 / 2.
    """

    gamma: jax.Array
    lam: jax.Array
    clip: jax.Array
    value_clip: jax.Array
    entropy_coefficient: jax.Array
    value_coefficient: jax.Array


class ActorNumbers(NamedTuple):
    """Means over a mini-batch."""

    policy_loss: jax.Array
    entropy: jax.Array
    approximate_kl: jax.Array
    clip_fraction: jax.Array


def mean(x: Float[Array, " B"], valid: Float[Array, " B"]) -> Float[Array, ""]:
    """Average over the rows that are experience."""
    return jnp.sum(x * valid) / jnp.maximum(jnp.sum(valid), 1.0)


def normalised(batch: Batch) -> Float[Array, " B"]:
    """Normalise advantages to mean 0 and standard deviation 1 over the batch's experience."""
    centred = batch.advantage - mean(batch.advantage, batch.valid)
    return centred / (jnp.sqrt(mean(centred**2, batch.valid)) + _TINY)


def explained_variance(batch: Batch) -> Float[Array, ""]:
    """Return 1 - Var(target - value) / Var(target); a perfect critic has 1, a constant one 0."""

    def variance(x: jax.Array) -> jax.Array:
        return mean((x - mean(x, batch.valid)) ** 2, batch.valid)

    spread = variance(batch.target)
    return jnp.where(spread > 0, 1.0 - variance(batch.target - batch.value) / spread, jnp.nan)


def actor_loss(
    policy: ActorCritic, params: Params, batch: Batch, coefficients: Coefficients
) -> tuple[Float[Array, ""], ActorNumbers]:
    """Return the clipped surrogate loss less the entropy bonus, and its numbers."""
    parameters = policy.parameters(params, batch.observation)
    log_ratio = policy.head.log_prob(parameters, batch.action) - batch.log_prob
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1 - coefficients.clip, 1 + coefficients.clip)
    gain = jnp.minimum(ratio * batch.advantage, clipped * batch.advantage)
    outside = jnp.abs(ratio - 1) > coefficients.clip
    rows = (-gain, policy.head.entropy(parameters), ratio - 1 - log_ratio, outside)
    # One reduction for all four: on CPU a reduction costs more than what it reduces.
    weight = batch.valid / jnp.maximum(jnp.sum(batch.valid), 1.0)
    numbers = ActorNumbers(*(jnp.stack([row.astype(jnp.float32) for row in rows]) @ weight))
    loss = numbers.policy_loss - coefficients.entropy_coefficient * numbers.entropy
    return loss, jax.lax.stop_gradient(numbers)


def critic_loss(
    policy: ActorCritic,
    params: Params,
    batch: Batch,
    coefficients: Coefficients,
    *,
    value_clip: bool,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Return half the critic's mean squared error, times its coefficient and without."""
    value = policy.value(params, batch.observation)
    error = (value - batch.target) ** 2
    if value_clip:
        near = batch.value + jnp.clip(
            value - batch.value, -coefficients.value_clip, coefficients.value_clip
        )
        error = jnp.maximum(error, (near - batch.target) ** 2)
    loss = 0.5 * mean(error, batch.valid)
    return coefficients.value_coefficient * loss, jax.lax.stop_gradient(loss)


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
    next_value = _of(next_values, chooser.argmax(axis=-1))
    goal = rows.reward + rates.gamma * jnp.where(rows.terminated, 0.0, next_value)
    return taken - jax.lax.stop_gradient(goal), taken


def _of(values: Float[Array, "m A"], action: Int[Array, " m"]) -> Float[Array, " m"]:
    # A product with the one-hot action, whose derivative is no scatter.
    return jnp.sum(values * jax.nn.one_hot(action, values.shape[-1]), axis=-1)


def clipped(
    optimiser: optax.GradientTransformation, max_grad_norm: float, weights: Any
) -> optax.GradientTransformation:
    """Return the optimiser behind a clip of the gradient's norm, for weights of these shapes."""
    steps = optax.chain(optax.clip_by_global_norm(max_grad_norm), optimiser)
    small = sum(leaf.size for leaf in jax.tree.leaves(weights)) <= _FEW_WEIGHTS
    return optax.flatten(steps) if small else steps
