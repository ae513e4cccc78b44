"""Returns of whole episodes of a frozen policy, actions sampled, in fresh environments.

Every environment gives its first episode and no other: taking whichever episodes end first would
favour the short ones.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from nbyt.collect.device import Runner, advance, start, step_inputs
from nbyt.collect.host_actor import HostActor
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.rng import seeds, stream

LONGEST = 10_000
_DEVICE_EPISODES = 64
_HOST_EPISODES = 20
_CHUNK = 128


class _Watch(NamedTuple):
    """The first episodes of N environments while they are under way."""

    time: jax.Array
    runner: Runner
    total: jax.Array
    ended: jax.Array


def episode_returns(
    env: DeviceEnv | HostEnv, policy: ActorCritic, params: Params, seed: int
) -> tuple[Float[np.ndarray, " episodes"], int]:
    """Returns of whole episodes, and how many were cut at `LONGEST` steps."""
    key = stream(jax.random.key(seed), "evaluate")
    if isinstance(env, HostEnv):
        return _host_returns(env, policy, params, key, seed)
    watch = _device_returns(env, policy, params, key)
    return np.asarray(watch.total, float), int((~watch.ended).sum())


@partial(jax.jit, static_argnames=("env", "policy"))
def _device_returns(env: DeviceEnv, policy: ActorCritic, params: Params, key: jax.Array) -> _Watch:
    runner = start(env, _DEVICE_EPISODES, key)
    blank = jnp.zeros(_DEVICE_EPISODES)
    watch = _Watch(jnp.int32(0), runner, blank, blank.astype(bool))
    return jax.lax.while_loop(_under_way, partial(_watch_step, env, policy, params, key), watch)


def _under_way(watch: _Watch) -> jax.Array:
    return (watch.time < LONGEST) & ~watch.ended.all()


def _watch_step(
    env: DeviceEnv, policy: ActorCritic, params: Params, key: jax.Array, watch: _Watch
) -> _Watch:
    drawn = step_inputs(policy, stream(key, "step", watch.time), 1, _DEVICE_EPISODES)
    inputs = jax.tree.map(lambda rows: rows[0], drawn)
    runner, row = advance(env, policy, params, watch.runner, inputs)
    total = watch.total + jnp.where(watch.ended, 0.0, row.reward)
    ended = watch.ended | row.terminated | row.truncated
    return _Watch(watch.time + 1, runner, total, ended)


def _host_returns(
    env: HostEnv, policy: ActorCritic, params: Params, key: jax.Array, seed: int
) -> tuple[np.ndarray, int]:
    running = env.start(_HOST_EPISODES)
    observation = running.reset(seeds(seed, "evaluate", _HOST_EPISODES))
    total, ended = np.zeros(_HOST_EPISODES), np.zeros(_HOST_EPISODES, bool)
    for time in range(LONGEST):
        if time % _CHUNK == 0:
            chunk = stream(key, "chunk", time // _CHUNK)
            actor = HostActor(policy, params, chunk, _CHUNK, _HOST_EPISODES)
        step = running.step(actor.act(observation, time % _CHUNK)[1])
        total += np.where(ended, 0.0, step.reward)
        ended |= step.terminated | step.truncated
        observation = step.observation
        if ended.all():
            break
    running.close()
    return total, int((~ended).sum())
