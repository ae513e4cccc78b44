"""Chains of device environments, a segment at a time, with side branches past time limits."""

from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from nbyt.collect.device import (
    Runner,
    advance_and_show,
    as_rollout,
    stagger,
    start,
    step_inputs,
)
from nbyt.collect.rollout import Rollout, next_value
from nbyt.collect.segment import PoolPlan, Segment, burn_in, pieces
from nbyt.envs.protocol import DeviceEnv
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.normalise import divided
from nbyt.rng import stream

# A segment's steps, and its numbers in all observations together, at most.
_LONGEST = 512
_NUMBERS = 2**22
_ROWS = 2**16
_BRANCHES = 64
_COPIED = ("observation", "action", "reward", "value", "terminated", "truncated")


class _Branch(NamedTuple):
    """Where episodes stand that go on past their time limit, and what they have earned there."""

    state: Any
    observation: jax.Array
    earned: Float[Array, " cut"]
    weight: Float[Array, " cut"]


def device_segments(
    env: DeviceEnv, policy: ActorCritic, params: Params, plan: PoolPlan, key: jax.Array
) -> Iterator[Segment]:
    """The chains' steps in order, all chains at once."""
    runner = start(env, plan.chains, key)
    if not plan.synchronised:
        runner = stagger(env, policy, params, runner, key, burn_in(env.time_limit))
    count, length = pieces(plan.steps, _longest(env, plan.chains))
    for place in range(count):
        here = stream(key, "segment", place)
        runner, rollout, ends = _segment(env, policy, params, runner, here, length)
        rows = {name: np.asarray(getattr(rollout, name)) for name in _COPIED}
        rows["next_value"] = np.asarray(next_value(rollout))
        rows["next_value_untruncated"] = rows["next_value"].copy()
        if plan.ahead and rows["truncated"].any():
            cut = np.nonzero(rows["truncated"])
            rows["next_value_untruncated"][cut] = _beyond(
                env, policy, params, ends, cut, here, plan
            )
        yield Segment(slice(0, plan.chains), place * length, rows)


def _longest(env: DeviceEnv, chains: int) -> int:
    """Steps of a segment whose networks' outputs fit in some 100 MB, however many chains run."""
    rows = min(_ROWS, _NUMBERS // prod(env.observation_space.shape or (1,)))
    return max(1, min(_LONGEST, rows // chains))


@partial(jax.jit, static_argnames=("env", "policy", "steps"))
def _segment(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    runner: Runner,
    key: jax.Array,
    steps: int,
) -> tuple[Runner, Rollout, Any]:
    """The next steps of all chains; and where an episode can be cut, where each step led to."""
    inputs = step_inputs(policy, key, steps, runner.episode_return.shape[0])
    runner, (rows, states) = jax.lax.scan(partial(_step, env, policy, params), runner, inputs)
    rollout = as_rollout(env, policy, params, runner, rows)
    return runner, rollout, (states, rows.final_observation) if env.time_limit else None


def _step(
    env: DeviceEnv, policy: ActorCritic, params: Params, runner: Runner, inputs: Any
) -> tuple[Runner, Any]:
    runner, row, state = advance_and_show(env, policy, params, runner, inputs)
    return runner, (row, state)


def _beyond(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    ends: Any,
    cut: tuple[np.ndarray, ...],
    key: jax.Array,
    plan: PoolPlan,
) -> Float[np.ndarray, " cut"]:
    """What going on earns where a time limit cut, a fixed number of branches at a time."""
    found = []
    for first in range(0, len(cut[0]), _BRANCHES):
        # The last block is filled up with repeats, so that one program serves all blocks.
        time, chain = (np.resize(index[first : first + _BRANCHES], _BRANCHES) for index in cut)
        begin = jax.tree.map(lambda x, t=time, n=chain: x[t, n], ends)
        here = stream(key, "branch", first)
        found.append(
            _go_on(env, policy, params, begin, here, plan.gamma, plan.ahead, plan.reward_scale)
        )
    return np.concatenate(found)[: len(cut[0])]


@partial(jax.jit, static_argnames=("env", "policy", "steps", "scale"))
def _go_on(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    ends: tuple[Any, jax.Array],
    key: jax.Array,
    gamma: jax.Array | float,
    steps: int,
    scale: float | None,
) -> Float[Array, " cut"]:
    """Discounted rewards of `steps` more steps, and the critic's value of where they lead."""
    count = ends[1].shape[0]
    noise, keys, _ = step_inputs(policy, key, steps, count)
    branch = _Branch(*ends, jnp.zeros(count), jnp.ones(count))
    further = partial(_further, env, policy, params, gamma, scale)
    branch = jax.lax.scan(further, branch, (noise, keys))[0]
    return branch.earned + branch.weight * policy.value(params, branch.observation)


def _further(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    gamma: jax.Array | float,
    scale: float | None,
    branch: _Branch,
    inputs: tuple[jax.Array, jax.Array],
) -> tuple[_Branch, None]:
    noise, keys = inputs
    action = policy.head.sample(policy.parameters(params, branch.observation), noise)
    after = jax.vmap(env.step)(keys, branch.state, policy.head.to_env(action))
    reward = after.reward if scale is None else divided(after.reward, scale)
    earned = branch.earned + branch.weight * reward
    weight = branch.weight * jnp.where(after.terminated, 0.0, gamma)
    return _Branch(after.state, after.observation, earned, weight), None
