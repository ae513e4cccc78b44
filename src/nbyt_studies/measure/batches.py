"""Fresh, independent batches of a frozen policy, and what their single steps contribute.

A batch of N envs x T steps is N chains of T steps, which begin at random phases of an episode as
a long run's envs do. Chains never meet, so batches that are cut from one pool are independent.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.products import Layer, group_sums, grouped, layers, many_sums, paired
from nbyt.gradients.spec import fragment_advantages
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.stage import Stage

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
    """So many batches of each layout (envs, steps); batch b is chains b N to (b + 1) N.

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
    found, first = [], 0
    for envs, steps in layouts:
        chains = slice(first, first + batches * envs)
        found.append(Pool(*(array[:steps, chains] for array in pool)))
        first = chains.stop
    return found


def batch_advantages(
    pool: Pool, *, gamma: float, lam: float, envs: int, normalise: bool = False
) -> Float[np.ndarray, "T n"]:
    """Advantages cut at the end of the batch; `normalise` gives each batch mean 0 and spread 1."""
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
    """Every step's contribution to the actor's gradient, written out: for few, small steps."""
    steps, chains = advantage.shape
    observation, action = (x.reshape(-1, *x.shape[2:]) for x in (pool.observation, pool.action))
    weight = np.asarray(advantage, np.float32).reshape(-1, 1)
    written = _written_out(stage.policy, stage.params, observation, action, weight)
    return np.asarray(written, float).reshape(steps, chains, -1)


def fragment_means(
    stage: Stage, pool: Pool, advantages: Float[np.ndarray, "J T n"]
) -> Float[np.ndarray, "J n P"]:
    """Each chain's mean contribution under J sets of advantages."""
    weights = np.asarray(advantages / pool.steps, np.float32).swapaxes(1, 2)
    sums = _sums(stage.policy, stage.params, *_chain_first(pool), weights)
    return np.asarray(sums)


def lagged_products(stage: Stage, pool: Pool, lags: tuple[int, ...]) -> LaggedProducts:
    """Products of scores that lie `lags` steps apart; the next chain stands for all others."""
    shifts = np.array([(chain, lag) for chain in (0, 1) for lag in (0, *lags)])
    found = _shifted(stage.policy, stage.params, *_chain_first(pool), shifts)
    # What a shift brought round from the other end is no pair of steps.
    rows = [
        row.T[: pool.steps - lag]
        for row, (_, lag) in zip(np.asarray(found, float), shifts, strict=True)
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
    """Products of each step's score with that so many chains on, so many steps later."""
    rows = _rows(policy, params, observation, action)

    def one(shift: jax.Array) -> jax.Array:
        other = jax.tree.map(lambda x: jnp.roll(x, -shift, axis=(0, 1)), rows)
        return paired(rows, other, _ACTOR, _ACTOR)

    return jax.lax.map(one, shifts)


def _rows(
    policy: ActorCritic, params: Params, observation: jax.Array, action: jax.Array
) -> list[Layer]:
    """The layers of all chains' steps, [n, T, ...]."""
    flat = [x.reshape(-1, *x.shape[2:]) for x in (observation, action)]
    return grouped(layers(policy, params, flat[0], flat[1], (_ACTOR,)), len(observation))
