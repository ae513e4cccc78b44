"""Fresh, independent batches of a frozen policy, and gradients of steps and mini-batches.

A batch of N envs x T steps is N chains of T steps, which begin at random phases of an episode as
a long run's envs do. Chains never meet, so batches that are cut from one pool are independent.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int

from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.products import Layer, group_sums, grouped, layers, many_sums, paired
from nbyt.gradients.spec import fragment_advantages
from nbyt.policy.actor_critic import ActorCritic, Params, Stage
from nbyt.policy.q_policy import QPolicy
from nbyt.training.losses import Batch, Rates, Transitions, dqn_loss, td_errors

# Sub-sampling: how mini-batch gradients scatter around the gradient of their batch.
#
# All at ratio 1, before the first gradient step, where a mini-batch's gradient is the mean of its
# steps' contributions.


class Scatter(NamedTuple):
    """Mini-batches of one scheme around G_B, epoch by epoch.

    square: the mean of |G_mb - G_B|². centre: |mean of G_mb - G_B|², 0 where each sample is used
    once. along: the mean of G_mb along G_B, in units of its length; 1 where they agree.
    """

    square: Float[Array, " epochs"]
    centre: Float[Array, " epochs"]
    along: Float[Array, " epochs"]


class Subsampled(NamedTuple):
    """One batch: its gradient G_B, the mean of |g_i|² over its steps, and its mini-batches.

    scatter: one for each size.
    """

    gradient: Float[Array, " P"]
    mean_square: Float[Array, ""]
    scatter: tuple[Scatter, ...]


@partial(jax.jit, static_argnames=("policy", "part", "joined"))
def subsample(
    policy: ActorCritic,
    params: Params,
    part: str,
    batch: Batch,
    weight: Float[Array, " B"],
    indices: Int[Array, "epochs pieces piece"],
    joined: tuple[int, ...] = (1,),
) -> Subsampled:
    """Compare mini-batches of a batch with its gradient; weight: each step's advantage.

    part: "actor" or "critic". joined: how many neighbouring pieces make a mini-batch, for each
    size; so all sizes share the sums over the smallest.
    """
    rows = layers(policy, params, batch.observation, batch.action, (part,))
    whole = grouped(rows, 1)
    gradient = group_sums(whole, {part: weight[None]})[0] / weight.size
    squares = weight**2 * paired(whole, whole, part, part)[0]
    scatter = jax.lax.map(partial(_scatter, part, rows, weight, gradient, joined), indices)
    return Subsampled(gradient, squares.mean(), scatter)


class Cut(NamedTuple):
    """A batch as a scheme cuts it: its pieces in every epoch, and the sizes that they make up."""

    scheme: str
    sizes: tuple[int, ...]
    indices: Int[np.ndarray, "epochs pieces piece"]


def subsample_cuts(
    stage: Stage,
    part: str,
    batch: Batch,
    weight: Float[np.ndarray, " B"],
    cuts: Sequence[Cut],
    sizes: tuple[int, ...],
) -> tuple[Subsampled, dict[tuple[str, int], Scatter]]:
    """Compare mini-batches of every cut with the gradient of their batch, by scheme and size.

    sizes: all sizes of mini-batches, that of a piece first.
    """
    pieces = np.concatenate([cut.indices for cut in cuts])
    joined = tuple(size // sizes[0] for size in sizes)
    sums: Subsampled = jax.device_get(
        subsample(stage.policy, stage.params, part, batch, weight, pieces, joined=joined)
    )
    by_cut, first = {}, 0
    for cut in cuts:
        epochs = slice(first, first + len(cut.indices))
        for size in cut.sizes:
            scatter = sums.scatter[sizes.index(size)]
            by_cut[cut.scheme, size] = Scatter(*(numbers[epochs] for numbers in scatter))
        first = epochs.stop
    return sums, by_cut


@partial(jax.jit, static_argnames=("policy", "part"))
def minibatch_gradients(
    policy: ActorCritic,
    params: Params,
    part: str,
    batch: Batch,
    weight: jax.Array,
    indices: Int[Array, "minibatches minibatch"],
) -> Float[Array, "minibatches P"]:
    """Return the gradient of each mini-batch, written out."""
    rows = layers(policy, params, batch.observation, batch.action, (part,))
    return _means(part, rows, weight, indices)


def _means(
    part: str, rows: list[Layer], weight: jax.Array, indices: jax.Array
) -> Float[Array, "minibatches P"]:
    picked = jax.tree.map(lambda x: x[indices], rows)
    return group_sums(picked, {part: weight[indices]}) / indices.shape[-1]


def _scatter(
    part: str,
    rows: list[Layer],
    weight: jax.Array,
    gradient: Float[Array, " P"],
    joined: tuple[int, ...],
    indices: Int[Array, "pieces piece"],
) -> tuple[Scatter, ...]:
    apart = _means(part, rows, weight, indices) - gradient
    centre = apart.mean(0)
    along = 1 + centre @ gradient / (gradient @ gradient)
    minibatches = [apart.reshape(-1, count, gradient.size).mean(1) for count in joined]
    return tuple(
        Scatter(jnp.sum(one**2, axis=-1).mean(), centre @ centre, along) for one in minibatches
    )


STEP_SIZES = 2.0 ** np.arange(-14, 8)
"""Step sizes that are tried."""


def best_gain(losses: Float[np.ndarray, "k sizes"], before: float) -> float:
    """Return the mean decrease of the loss over k steps, at the common step size that is best."""
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
    """Return the loss of all rows after a step against each gradient, for each of `STEP_SIZES`.

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
    """Return the gradient of each transition's loss; a mini-batch's gradient is their mean.

    Rows that are not experience have a gradient of 0, and would count in such a mean: leave them
    out beforehand.
    """

    def contribution(row: Transitions) -> Float[Array, " P"]:
        alone = jax.tree.map(lambda x: x[None], row)
        loss = partial(dqn_loss, policy, target=target, rows=alone, rates=rates, double=double)
        return ravel_pytree(jax.grad(loss, has_aux=True)(weights)[0])[0]

    return jax.lax.map(contribution, jax.tree.map(jnp.asarray, rows), batch_size=_CHUNK)


_ACTOR = "actor"


class LaggedProducts(NamedTuple):
    """Inner products of steps' scores, by lag, [T - lag, n]: within a chain, and with the next.

    square is |score|² of every step; across has lag 0 too. A contribution is its score times its
    advantage, so products of contributions are these times both advantages.
    """

    square: Float[np.ndarray, "T n"]
    within: dict[int, np.ndarray]
    across: dict[int, np.ndarray]


def collect_batches(
    env: DeviceEnv | HostEnv,
    stage: Stage,
    layouts: Sequence[tuple[int, int]],
    *,
    batches: int,
    seed: int,
    round: int = 0,
    synchronised: bool = False,
) -> list[Pool]:
    """Collect so many batches of each layout (envs, steps); batch b is chains b N to (b + 1) N.

    Each layout has chains of its own, all from one pool: one program collects them, and what is
    over a short layout's end is dropped. round: other rounds of a seed are other batches.
    synchronised: all begin at a reset.
    """
    plan = PoolPlan(
        chains=batches * sum(envs for envs, _ in layouts),
        steps=max(steps for _, steps in layouts),
        ahead=0,
        gamma=1.0,
        seed=seed,
        synchronised=synchronised,
        reward_scale=stage.facts.get("reward_scale"),
        round=round,
    )
    pool = collect_pool(env, stage.policy, stage.params, plan)
    pools, first = [], 0
    for envs, steps in layouts:
        chains = slice(first, first + batches * envs)
        pools.append(Pool(*(array[:steps, chains] for array in pool)))
        first = chains.stop
    return pools


def batch_advantages(
    pool: Pool, *, gamma: float, lam: float, envs: int, normalise: bool = False
) -> Float[np.ndarray, "T n"]:
    """Return advantages cut at the batch's end; `normalise`: mean 0 and spread 1 in each batch."""
    raw = fragment_advantages(pool, gamma, lam, pool.steps, pool.steps)
    if not normalise:
        return raw
    own = raw.reshape(pool.steps, -1, envs)
    spread = own.std(axis=(0, 2), keepdims=True)
    centred = own - own.mean(axis=(0, 2), keepdims=True)
    return (centred / np.where(spread > 0, spread, 1.0)).reshape(raw.shape)


def contributions(
    stage: Stage, pool: Pool, advantage: Float[np.ndarray, "T n"]
) -> Float[np.ndarray, "T n P"]:
    """Return every step's contribution to the actor's gradient, for few, small steps."""
    steps, chains = advantage.shape
    observation, action = (x.reshape(-1, *x.shape[2:]) for x in (pool.observation, pool.action))
    weight = np.asarray(advantage, np.float32).reshape(-1, 1)
    written = _written_out(stage.policy, stage.params, observation, action, weight)
    return np.asarray(written, float).reshape(steps, chains, -1)


def fragment_means(
    stage: Stage, pool: Pool, advantages: Float[np.ndarray, "J T n"]
) -> Float[np.ndarray, "J n P"]:
    """Return each chain's mean contribution under J sets of advantages."""
    weights = np.asarray(advantages / pool.steps, np.float32).swapaxes(1, 2)
    sums = _sums(stage.policy, stage.params, *_chain_first(pool), weights)
    return np.asarray(sums)


def lagged_products(stage: Stage, pool: Pool, lags: tuple[int, ...]) -> LaggedProducts:
    """Return products of scores `lags` steps apart; the next chain stands for all others."""
    shifts = np.array([(chain, lag) for chain in (0, 1) for lag in (0, *lags)])
    shifted = _shifted(stage.policy, stage.params, *_chain_first(pool), shifts)
    # What a shift brought round from the other end is no pair of steps.
    rows = [
        row.T[: pool.steps - lag]
        for row, (_, lag) in zip(np.asarray(shifted, float), shifts, strict=True)
    ]
    within, across = (dict(zip((0, *lags), rows[at:], strict=False)) for at in (0, 1 + len(lags)))
    return LaggedProducts(within.pop(0), within, across)


def _chain_first(pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    return pool.observation.swapaxes(0, 1), pool.action.swapaxes(0, 1)


@partial(jax.jit, static_argnames="policy")
def _written_out(
    policy: ActorCritic,
    params: Params,
    observation: jax.Array,
    action: jax.Array,
    weight: Float[Array, "R 1"],
) -> Float[Array, "R P"]:
    rows = layers(policy, params, observation, action, (_ACTOR,))
    return group_sums(grouped(rows, len(weight)), {_ACTOR: weight})


@partial(jax.jit, static_argnames="policy")
def _sums(
    policy: ActorCritic,
    params: Params,
    observation: jax.Array,
    action: jax.Array,
    weights: Float[Array, "J n T"],
) -> Float[Array, "J n P"]:
    return many_sums(_rows(policy, params, observation, action), {_ACTOR: weights})


@partial(jax.jit, static_argnames="policy")
def _shifted(
    policy: ActorCritic,
    params: Params,
    observation: jax.Array,
    action: jax.Array,
    shifts: Int[Array, "K 2"],
) -> Float[Array, "K n T"]:
    rows = _rows(policy, params, observation, action)

    def one(shift: jax.Array) -> jax.Array:
        other = jax.tree.map(lambda x: jnp.roll(x, -shift, axis=(0, 1)), rows)
        return paired(rows, other, _ACTOR, _ACTOR)

    return jax.lax.map(one, shifts)


def _rows(
    policy: ActorCritic, params: Params, observation: jax.Array, action: jax.Array
) -> list[Layer]:
    flat = [x.reshape(-1, *x.shape[2:]) for x in (observation, action)]
    return grouped(layers(policy, params, flat[0], flat[1], (_ACTOR,)), len(observation))
