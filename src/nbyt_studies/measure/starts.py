"""Effects of a rollout's start: on its gradient, and where a small change of it leads."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from nbyt.collect.device import Runner, advance, collect, stagger, start, step_inputs
from nbyt.collect.rollout import Rollout, gae
from nbyt.collect.segment import burn_in
from nbyt.envs.protocol import DeviceEnv
from nbyt.gradients.products import grouped, layers, many_sums, touched
from nbyt.policy.actor_critic import ActorCritic, Params, Stage
from nbyt.rng import stream, streams
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import leave_one_out, real


def explained_share(vectors: Float[np.ndarray, "m n p"]) -> Estimate:
    """Estimate tr Var(E[G | group]) / tr Var(G) from m >= 2 independent draws in each of n groups.

    The numerator is the covariance of different draws of a group. Every product is one of
    different draws, or of a draw with itself, where that is meant: numerator and denominator are
    unbiased. The interval is the jackknife's over groups.
    """
    draws, groups, _ = vectors.shape
    if draws < 2:
        return undetermined("one draw of a group cannot be told from its mean", groups)
    samples = leave_one_out(groups)
    total = vectors.sum(axis=0, dtype=float)
    own = np.einsum("mnp,mnp->n", vectors, vectors, dtype=float)
    pairs = (np.einsum("np,np->n", total, total) - own) / (draws * (draws - 1))
    squared_mean = samples.mean_of_pairs((total @ total.T)[None] / draws**2)
    variance = samples.mean(own[None] / draws) - squared_mean
    if np.any(variance <= 0):
        return undetermined("the estimated variance is not above 0", groups)
    return real((samples.mean(pairs[None]) - squared_mean) / variance, groups)


_TINY = 1e-12


class Separation(NamedTuple):
    """How far apart trajectories of nearby starts are, relative to the first step's distance.

    growth: after each step; from the step on in which one of a pair ends, its last distance.
    unrelated: the same for trajectories of different starts, at the last step.
    """

    growth: Float[np.ndarray, "R T"]
    unrelated: Float[np.ndarray, " R"]


def start_share(
    env: DeviceEnv,
    stage: Stage,
    *,
    starts: int,
    again: int,
    steps: tuple[int, ...],
    gamma: float,
    lam: float,
    seed: int,
) -> list[Estimate]:
    """Estimate the share of Var(G_env) of the actor that the first state explains, for each T.

    again: rollouts of each start, with random streams of their own. Advantages are standardised.
    Shorter rollouts are the beginnings of the longest.
    """
    key = stream(jax.random.key(seed), "starts")
    runner = staggered(env, stage, starts, key)
    policy, params = stage.policy, stage.params
    longest = _again(env, policy, params, runner, stream(key, "again"), again, max(steps))
    shares = []
    for length in steps:
        vectors = np.asarray(_gradients(policy, params, _beginning(longest, length), gamma, lam))
        shares.append(explained_share(vectors.reshape(again, starts, -1)))
    return shares


def separation(
    env: DeviceEnv, stage: Stage, *, starts: int, steps: int, seed: int, change: float = 1e-3
) -> Separation:
    """Return distances of standardised observations between runs of nearby starts, same keys.

    Every number of a start's state is changed by `change` of its spread over starts. Both runs
    take the same first action: distances are relative to that after one step.
    """
    key = stream(jax.random.key(seed), "separation")
    runner = staggered(env, stage, starts, key)
    seen, ended = _side_by_side(env, stage.policy, stage.params, runner, key, steps, change)
    seen, ended = np.asarray(seen, float), np.asarray(ended)
    seen = seen.reshape(*seen.shape[:2], -1)
    seen = seen / (seen.std(axis=(0, 1)) + _TINY)
    own, other = seen[:, :starts], seen[:, starts:]
    apart = np.linalg.norm(own - other, axis=-1)
    unrelated = np.linalg.norm(own[-1] - np.roll(own[-1], 1, axis=0), axis=-1)
    over = (ended[:, :starts] | ended[:, starts:])[:-1]
    last = np.where(over.any(axis=0), over.argmax(axis=0), steps)
    # A pair that ended in its first step has no distance to begin with.
    kept = (last > 0) & (apart[1] > _TINY)
    place = np.minimum(np.arange(1, steps + 1)[:, None], last[None])
    growth = np.take_along_axis(apart, place, axis=0)[:, kept] / apart[1, kept]
    return Separation(growth.T, unrelated[kept] / apart[1, kept])


def staggered(env: DeviceEnv, stage: Stage, starts: int, key: jax.Array) -> Runner:
    """Start independent envs at random phases of an episode."""
    begun = start(env, starts, key)
    return stagger(env, stage.policy, stage.params, begun, key, burn_in(env.time_limit))


@partial(jax.jit, static_argnames=("env", "policy", "again", "steps"))
def _again(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    runner: Runner,
    key: jax.Array,
    again: int,
    steps: int,
) -> Rollout:
    many = jax.tree.map(lambda x: jnp.concatenate([x] * again), runner)
    return collect(env, policy, params, many, key, steps)[1]


def _beginning(rollout: Rollout, steps: int) -> Rollout:
    """Return the first steps of a rollout, as if it had been no longer."""
    if steps == len(rollout.value):
        return rollout
    rows = {
        name: getattr(rollout, name)[:steps] for name in Rollout._fields if name != "last_value"
    }
    return Rollout(**rows, last_value=rollout.value[steps])


@partial(jax.jit, static_argnames=("policy",))
def _gradients(
    policy: ActorCritic, params: Params, rollout: Rollout, gamma: float, lam: float
) -> Float[Array, "n p"]:
    advantage = gae(rollout, gamma, lam)
    advantage = (advantage - advantage.mean()) / (advantage.std() + _TINY)
    steps, envs = advantage.shape
    seen, acted = (
        x.swapaxes(0, 1).reshape(steps * envs, *x.shape[2:])
        for x in (rollout.observation, rollout.action)
    )
    rows = grouped(layers(policy, params, seen, acted, ("actor",)), envs)
    return many_sums(touched(rows, ("actor",)), {"actor": advantage.T[None] / steps})[0]


@partial(jax.jit, static_argnames=("env", "policy", "steps"))
def _side_by_side(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    runner: Runner,
    key: jax.Array,
    steps: int,
    change: float,
) -> tuple[Any, Any]:
    """Return observations before each step and after the last, and ends; starts, then changed
    ones.
    """
    state = _changed(runner.state, key, change)
    both = jax.tree.map(lambda x, y: jnp.concatenate([x, y]), runner, runner._replace(state=state))
    inputs = step_inputs(policy, key, steps + 1, runner.episode_return.shape[0])
    shared = jax.tree.map(lambda x: jnp.concatenate([x, x], axis=1), inputs)
    _, rows = jax.lax.scan(partial(advance, env, policy, params), both, shared)
    return rows.observation, rows.terminated | rows.truncated


def _changed(state: Any, key: jax.Array, change: float) -> Any:
    """Return the states with every floating number moved a little."""
    leaves, shape = jax.tree.flatten(state)
    keys = streams(key, "change", len(leaves))
    moved = [
        leaf + change * leaf.std(axis=0) * jax.random.normal(own, leaf.shape)
        if jnp.issubdtype(leaf.dtype, jnp.floating)
        else leaf
        for leaf, own in zip(leaves, keys, strict=True)
    ]
    return jax.tree.unflatten(shape, moved)
