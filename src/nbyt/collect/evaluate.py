"""Returns of whole episodes of a frozen policy, actions sampled, in fresh environments.

Every environment gives its first episode and no other: taking whichever episodes end first would
favour the short ones.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Float

from nbyt.collect.device import Runner, advance, each_seed, spread, start, step_inputs
from nbyt.collect.host import HostActor
from nbyt.envs.protocol import DeviceEnv, HostEnv, most_envs
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.rng import seeds, stream

LONGEST = 10_000
DEVICE_EPISODES = 64
_HOST_EPISODES = 20
_CHUNK = 128


class Evaluation(NamedTuple):
    """Returns of whole episodes.

    unfinished: episodes cut at `LONGEST` steps. spoiled: episodes with a reward that was not
    finite, which is left out of their return.
    """

    returns: Float[np.ndarray, " episodes"]
    unfinished: int
    spoiled: int


class _Episodes(NamedTuple):
    time: jax.Array
    runner: Runner
    total: jax.Array
    ended: jax.Array
    spoiled: jax.Array


class SeedEpisodes(NamedTuple):
    """Episodes of many policies, [policies, episodes]; the arrays may still be computing."""

    total: jax.Array
    ended: jax.Array
    spoiled: jax.Array

    def evaluations(self) -> list[Evaluation]:
        """Return the evaluation of each policy, as `episode_returns` does."""
        totals, ended, spoiled = (np.asarray(rows) for rows in self)
        return [
            Evaluation(np.asarray(total, float), int((~over).sum()), int(bad.sum()))
            for total, over, bad in zip(totals, ended, spoiled, strict=True)
        ]


def episode_returns(
    env: DeviceEnv | HostEnv, policy: ActorCritic, params: Params, seed: int
) -> Evaluation:
    """Play whole episodes of the policy with sampled actions."""
    key = stream(jax.random.key(seed), "evaluate")
    if isinstance(env, HostEnv):
        return _host_returns(env, policy, params, key, seed)
    watch = _device_returns(env, policy, params, start_episodes(env, seed), key)
    returns = np.asarray(watch.total, float)
    return Evaluation(returns, int((~watch.ended).sum()), int(watch.spoiled.sum()))


def play_seeds(
    env: DeviceEnv,
    policy: ActorCritic,
    seeds: Sequence[int],
    mesh: Mesh,
    *,
    episodes: int = DEVICE_EPISODES,
) -> Callable[[Params], SeedEpisodes]:
    """Return a function that plays all seeds' policies in one program, without waiting for it.

    It takes the policies' parameters as `spread` lays them out. episodes: of each policy.
    """
    keys = [stream(jax.random.key(seed), "evaluate") for seed in seeds]
    begun = spread(
        list(zip([start_episodes(env, seed, episodes) for seed in seeds], keys, strict=True)), mesh
    )

    def play(params: Params) -> SeedEpisodes:
        watch = _seeds_returns(env, policy, mesh, params, begun)
        return SeedEpisodes(watch.total, watch.ended, watch.spoiled)

    return play


@partial(jax.jit, static_argnames=("env", "policy", "mesh"))
def _seeds_returns(
    env: DeviceEnv,
    policy: ActorCritic,
    mesh: Mesh,
    params: Params,
    begun: tuple[Runner, jax.Array],
) -> _Episodes:
    def one(own: tuple[Params, tuple[Runner, jax.Array]]) -> _Episodes:
        return _device_returns(env, policy, own[0], *own[1])

    return each_seed(one, (params, begun), mesh)


def start_episodes(env: DeviceEnv, seed: int, episodes: int = DEVICE_EPISODES) -> Runner:
    """Start the environments of `episode_returns` with this seed."""
    return start(env, episodes, stream(jax.random.key(seed), "evaluate"))


@partial(jax.jit, static_argnames=("env", "policy"))
def _device_returns(
    env: DeviceEnv, policy: ActorCritic, params: Params, runner: Runner, key: jax.Array
) -> _Episodes:
    blank = jnp.zeros_like(runner.episode_return)
    watch = _Episodes(jnp.int32(0), runner, blank, blank.astype(bool), blank.astype(bool))
    return jax.lax.while_loop(_under_way, partial(_episode_step, env, policy, params, key), watch)


def _under_way(watch: _Episodes) -> jax.Array:
    return (watch.time < LONGEST) & ~watch.ended.all()


def _episode_step(
    env: DeviceEnv, policy: ActorCritic, params: Params, key: jax.Array, watch: _Episodes
) -> _Episodes:
    drawn = step_inputs(policy, stream(key, "step", watch.time), 1, watch.total.size)
    inputs = jax.tree.map(lambda rows: rows[0], drawn)
    runner, row = advance(env, policy, params, watch.runner, inputs)
    finite = jnp.isfinite(row.reward)
    total = watch.total + jnp.where(watch.ended | ~finite, 0.0, row.reward)
    spoiled = watch.spoiled | (~watch.ended & ~finite)
    ended = watch.ended | row.terminated | row.truncated
    return _Episodes(watch.time + 1, runner, total, ended, spoiled)


def _host_returns(
    env: HostEnv, policy: ActorCritic, params: Params, key: jax.Array, seed: int
) -> Evaluation:
    episodes = most_envs(env, _HOST_EPISODES)
    running = env.start(episodes)
    observation = running.reset(seeds(seed, "evaluate", episodes))
    total = np.zeros(episodes)
    ended, spoiled = np.zeros(episodes, bool), np.zeros(episodes, bool)
    for time in range(LONGEST):
        if time % _CHUNK == 0:
            chunk = stream(key, "chunk", time // _CHUNK)
            actor = HostActor(policy, params, chunk, _CHUNK, episodes)
        step = running.step(actor.act(observation, time % _CHUNK)[1])
        finite = np.isfinite(step.reward)
        total += np.where(ended | ~finite, 0.0, step.reward)
        spoiled |= ~ended & ~finite
        ended |= step.terminated | step.truncated
        observation = step.observation
        if ended.all():
            break
    running.close()
    return Evaluation(total, int((~ended).sum()), int(spoiled.sum()))
