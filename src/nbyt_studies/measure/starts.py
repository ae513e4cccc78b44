"""From the same starts: where a small change leads, and what each action is worth."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from nbyt.collect.device import Runner, advance, as_rollout, stagger, start, step_inputs
from nbyt.collect.rollout import Rollout, gae
from nbyt.collect.segment import burn_in
from nbyt.envs.protocol import DeviceEnv
from nbyt.policy.actor_critic import ActorCritic, Params, Stage
from nbyt.rng import stream, streams

_TINY = 1e-12


class Separation(NamedTuple):
    """How far apart trajectories of nearby starts are, relative to the first step's distance.

    growth: after each step; from the step on in which one of a pair ends, its last distance.
    unrelated: the same for trajectories of different starts, at the last step.
    """

    growth: Float[np.ndarray, "R T"]
    unrelated: Float[np.ndarray, " R"]


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


# Positions in a rollout of T steps that stand for all of them, as shares of the steps still to go.
_TO_GO = (0.125, 0.375, 0.625, 0.875)


def advantage_quality(
    env: DeviceEnv,
    stage: Stage,
    *,
    starts: int,
    horizon: int,
    steps: tuple[int, ...],
    lambdas: tuple[float, ...],
    gamma: float,
    seed: int,
) -> list[dict[str, float]]:
    """Return covariance and variances of estimated and true advantages, for each T and lambda.

    From each start two actions are drawn and each is followed twice: with the same luck for both
    actions, and with luck of its own for each time. So products of two times are unbiased: the
    mean of (Q1(a) - Q1(b)) (Q2(a) - Q2(b)) is twice the true advantages' variance, and the mean
    of an estimate of one time times Q(a) - Q(b) of the other is its covariance with the truth. Q
    is the return of `horizon` steps, the critic's value after it.
    """
    key = stream(jax.random.key(seed), "advantages")
    runner = staggered(env, stage, starts, key)
    rollout = _two_actions(env, stage.policy, stage.params, runner, key, horizon)
    shape = (2, 2, starts)  # time, action, start
    q = np.asarray(gae(rollout, gamma, 1.0)[0], float).reshape(shape)
    apart = q[:, 0] - q[:, 1]
    truth = float(np.mean(apart[0] * apart[1])) / 2
    rows = []
    for length in steps:
        to_go = [max(1, round(length * share)) for share in _TO_GO]
        beginnings = [_beginning(rollout, count) for count in to_go]
        for lam in lambdas:
            made = np.stack([np.asarray(gae(one, gamma, lam)[0], float) for one in beginnings])
            made = made.reshape(len(to_go), *shape)
            along = (made[:, :, 0] - made[:, :, 1]) * apart[::-1]
            rows.append(
                {
                    "steps": length,
                    "lambda": lam,
                    "covariance": float(along.mean()) / 2,
                    "variance": float(made.var(axis=(1, 2, 3)).mean()),
                    "truth": truth,
                }
            )
    return rows


@partial(jax.jit, static_argnames=("env", "policy", "horizon"))
def _two_actions(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    runner: Runner,
    key: jax.Array,
    horizon: int,
) -> Rollout:
    """Follow both actions of each start twice; envs are ordered by time, action and start."""
    starts = runner.episode_return.shape[0]
    luck = step_inputs(policy, stream(key, "luck"), horizon, 2 * starts)
    first = step_inputs(policy, stream(key, "first"), 1, 2 * starts)[0]

    def dealt(own: jax.Array) -> jax.Array:
        times = own.reshape(horizon, 2, 1, starts, *own.shape[2:])
        both = jnp.concatenate([times, times], axis=2)
        return both.reshape(horizon, 4 * starts, *own.shape[2:])

    noise, *others = jax.tree.map(dealt, luck)
    # Later luck is shared by the two actions of a time; the actions are those of both times.
    noise = noise.at[0].set(jnp.concatenate([first[0], first[0]]))
    many = jax.tree.map(lambda x: jnp.concatenate([x] * 4), runner)
    last, rows = jax.lax.scan(partial(advance, env, policy, params), many, (noise, *others))
    return as_rollout(env, policy, params, last, rows)


def _beginning(rollout: Rollout, steps: int) -> Rollout:
    """Return the first steps of a rollout, as if it had been no longer."""
    if steps == len(rollout.value):
        return rollout
    rows = {
        name: getattr(rollout, name)[:steps] for name in Rollout._fields if name != "last_value"
    }
    return Rollout(**rows, last_value=rollout.value[steps])
