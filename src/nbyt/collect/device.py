"""Collect on the device: one compiled scan over T steps of N environments."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Shaped

from nbyt.collect.rollout import Episodes, Rollout, action_noise, env_keys
from nbyt.envs.protocol import DeviceEnv, Transition
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.rng import stream, streams

# Work for many seeds: a part of them on every device, one after the other there. All cores are then
# busy, the program is compiled once, and a seed's result does not depend on the other seeds.

# XLA unrolls a loop of one turn and then rounds otherwise; a lone seed runs beside its copy.
_FEWEST = 2
_SHARED = PartitionSpec("seeds")


def spread(rows: Sequence[Any], mesh: Mesh) -> Any:
    """Stack the seeds' trees over the devices; the first fills up what is left."""
    devices = mesh.devices.size
    each = _on_each(len(rows), devices)
    full = [*rows, *[rows[0]] * (each * devices - len(rows))]
    stacked = jax.tree.map(lambda *leaves: _stacked(leaves), *full)
    return jax.device_put(stacked, NamedSharding(mesh, _SHARED))


def mesh_for(seeds: int) -> Mesh:
    """Return the devices that this many seeds keep busy; no more than end sooner for it."""
    devices = jax.devices()
    each = _on_each(seeds, len(devices))
    return Mesh(np.array(devices[: -(-seeds // each)]), ("seeds",))


def _on_each(seeds: int, devices: int) -> int:
    return max(_FEWEST, -(-seeds // devices))


def each_seed(work: Callable[[Any], Any], rows: Any, mesh: Mesh) -> Any:
    """Call `work` on the tree of every seed that `spread` stacked."""
    part = partial(jax.lax.map, work)
    spread_out = jax.shard_map(
        part, mesh=mesh, in_specs=_SHARED, out_specs=_SHARED, check_vma=False
    )
    return spread_out(rows)


def _stacked(leaves: Sequence[Any]) -> Any:
    """Stack by NumPy: JAX would compile a program for every shape."""
    if jnp.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_stacked([jax.random.key_data(one) for one in leaves]))
    return np.stack([np.asarray(one) for one in leaves])


# From this many envs on, values are computed row by row: a whole rollout's hidden layers at once
# would cost more memory than the rollout itself and gain no speed.
_WIDE = 1024

STAGGER_LIMIT = 1000


class Runner(NamedTuple):
    """What N environments carry from one rollout to the next."""

    state: Any
    observation: Shaped[Array, "N ..."]
    episode_return: Float[Array, " N"]
    episode_length: Float[Array, " N"]


class Row(NamedTuple):
    """One step of N environments, as the scan stacks it."""

    observation: jax.Array
    action: jax.Array
    parameters: jax.Array
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    final_observation: jax.Array
    finished_return: jax.Array
    finished_length: jax.Array


@partial(jax.jit, static_argnames=("env", "envs"))
def start(env: DeviceEnv, envs: int, key: jax.Array) -> Runner:
    """Start N environments; env i starts alike however many there are."""
    state, observation = jax.vmap(env.reset)(streams(key, "env.start", envs))
    return Runner(state, observation, jnp.zeros(envs), jnp.zeros(envs))


def collect(
    env: DeviceEnv, policy: ActorCritic, params: Params, runner: Runner, key: jax.Array, steps: int
) -> tuple[Runner, Rollout, Episodes]:
    """Step every environment `steps` times; return the envs, the rollout and the episodes."""
    envs = runner.episode_return.shape[0]
    inputs = step_inputs(policy, key, steps, envs)
    runner, rows = jax.lax.scan(partial(advance, env, policy, params), runner, inputs)
    count = (rows.terminated | rows.truncated).sum().astype(jnp.float32)
    episodes = Episodes(count, rows.finished_return.sum(), rows.finished_length.sum())
    return runner, as_rollout(env, policy, params, runner, rows), episodes


@partial(jax.jit, static_argnames=("env", "policy", "burn_in"))
def stagger(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    runner: Runner,
    key: jax.Array,
    burn_in: int = 0,
) -> Runner:
    """Bring the environments to random phases of an episode by a random number of steps.

    burn_in: steps that all go before that.
    """
    limit = min(env.time_limit or STAGGER_LIMIT, STAGGER_LIMIT)
    envs = runner.episode_return.shape[0]
    draw = partial(jax.random.randint, shape=(), minval=0, maxval=limit)
    counts = burn_in + jax.vmap(draw)(streams(key, "stagger", envs))
    wander = partial(_wander, env, policy, params, key, counts)
    return jax.lax.fori_loop(0, burn_in + limit, wander, runner)


def _wander(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    key: jax.Array,
    counts: jax.Array,
    time: jax.Array,
    runner: Runner,
) -> Runner:
    envs = counts.shape[0]
    drawn = step_inputs(policy, stream(key, "stagger.step", time), 1, envs)
    inputs = jax.tree.map(lambda rows: rows[0], drawn)
    moved, _ = advance(env, policy, params, runner, inputs)
    return where_rows(time < counts, moved, runner)


def step_inputs(
    policy: ActorCritic, key: jax.Array, steps: int, envs: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Draw the randomness of a rollout, [T, N, ...]: for acting, stepping and resetting."""
    return (
        action_noise(policy.head, key, steps, envs),
        env_keys(key, "env.step", steps, envs),
        env_keys(key, "env.reset", steps, envs),
    )


def advance(
    env: DeviceEnv, policy: ActorCritic, params: Params, runner: Runner, inputs: tuple[Any, ...]
) -> tuple[Runner, Row]:
    """Step every environment once."""
    runner, row, _ = advance_and_show(env, policy, params, runner, inputs)
    return runner, row


def advance_and_show(
    env: DeviceEnv, policy: ActorCritic, params: Params, runner: Runner, inputs: tuple[Any, ...]
) -> tuple[Runner, Row, Any]:
    """Step every environment once; also return the states before any reset."""
    noise, step_keys, reset_keys = inputs
    parameters = policy.parameters(params, runner.observation)
    action = policy.head.sample(parameters, noise)
    after = jax.vmap(env.step)(step_keys, runner.state, policy.head.to_env(action))
    ended = after.terminated | after.truncated
    state, observation = _reset_where(env, ended, after, reset_keys)
    # A reward that is not a number must not spoil the mean return; the batch's check reports it.
    counted = jnp.where(jnp.isfinite(after.reward), after.reward, 0.0)
    returns, lengths = runner.episode_return + counted, runner.episode_length + 1
    row = Row(
        runner.observation,
        action,
        parameters,
        after.reward,
        after.terminated,
        after.truncated,
        after.observation if env.time_limit else jnp.zeros(ended.shape),
        jnp.where(ended, returns, 0.0),
        jnp.where(ended, lengths, 0.0),
    )
    carried = Runner(
        state, observation, jnp.where(ended, 0.0, returns), jnp.where(ended, 0.0, lengths)
    )
    return carried, row, after.state


def _reset_where(
    env: DeviceEnv, ended: jax.Array, after: Transition, keys: jax.Array
) -> tuple[Any, jax.Array]:
    """Reset the environments whose episode ended.

    Starts are drawn only in steps in which some episode ended: with few envs those are rare, and
    drawing costs as much as the step itself.
    """
    here = (after.state, after.observation)
    return jax.lax.cond(
        ended.any(), lambda: where_rows(ended, jax.vmap(env.reset)(keys), here), lambda: here
    )


def where_rows(mask: jax.Array, yes: Any, no: Any) -> Any:
    """Select rows of `yes` where the mask is set, of `no` elsewhere, in every array of the tree."""
    return jax.tree.map(
        lambda a, b: jnp.where(mask.reshape(-1, *(1,) * (a.ndim - 1)), a, b), yes, no
    )


def as_rollout(
    env: DeviceEnv, policy: ActorCritic, params: Params, runner: Runner, rows: Row
) -> Rollout:
    """Return the rows as a rollout with the critic's values; `runner` holds the envs after them."""
    final_value = jnp.zeros_like(rows.reward)
    if env.time_limit:
        final_value = jax.lax.cond(
            rows.truncated.any(),
            lambda: jnp.where(rows.truncated, _values(policy, params, rows.final_observation), 0.0),
            lambda: final_value,
        )
    return Rollout(
        rows.observation,
        rows.action,
        policy.head.log_prob(rows.parameters, rows.action),
        _values(policy, params, rows.observation),
        rows.reward,
        rows.terminated,
        rows.truncated,
        jnp.ones_like(rows.terminated),
        final_value,
        policy.value(params, runner.observation),
    )


def _values(
    policy: ActorCritic, params: Params, observation: Shaped[Array, "T N ..."]
) -> Float[Array, "T N"]:
    value = partial(policy.value, params)
    return jax.lax.map(value, observation) if observation.shape[1] >= _WIDE else value(observation)
