"""A pool: n independent chains of a frozen policy, each one env's long stream of experience.

Chains stand at random phases of an episode when they begin, so every step of a chain is drawn
from the law that a long training run's rollouts have. Filler rows are left out: every row of a
chain is experience.
"""

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Shaped

from nbyt.collect import PartProgress
from nbyt.collect.device import (
    Runner,
    advance_and_show,
    as_rollout,
    stagger,
    start,
    step_inputs,
)
from nbyt.collect.host import HostPolicy, HostRunner, Record, StageHostPolicy, device_kind
from nbyt.collect.rollout import Rollout, next_value, next_values
from nbyt.collect.segment import PartEnvs, PoolPlan, Segment, burn_in, pieces
from nbyt.envs.protocol import DeviceEnv, HostEnv, HostEnvs, most_envs
from nbyt.errors import EnvError
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.normalise import divided
from nbyt.rng import numpy_stream, seeds, stream

# A segment's steps, and its numbers in all observations together, at most.
_LONGEST = 512
_NUMBERS = 2**22
_ROWS = 2**16
_BRANCHES = 64
_COPIED = ("observation", "action", "reward", "value", "terminated", "truncated")


class _Branch(NamedTuple):
    """Episodes that continue past their time limit, and the rewards they collect there."""

    state: Any
    observation: jax.Array
    earned: Float[Array, " cut"]
    weight: Float[Array, " cut"]


def device_segments(
    env: DeviceEnv, policy: ActorCritic, params: Params, plan: PoolPlan, key: jax.Array
) -> Iterator[Segment]:
    """Yield the chains' steps in order, all chains at once."""
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
            rows["next_value_untruncated"][cut] = _untruncated_values(
                env, policy, params, ends, cut, here, plan
            )
        yield Segment(slice(0, plan.chains), place * length, rows)


def _longest(env: DeviceEnv, chains: int) -> int:
    """Return a segment length whose network outputs fit in some 100 MB."""
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
    """Step all chains; with a time limit, also return the state after each step."""
    inputs = step_inputs(policy, key, steps, runner.episode_return.shape[0])
    runner, (rows, states) = jax.lax.scan(partial(_step, env, policy, params), runner, inputs)
    rollout = as_rollout(env, policy, params, runner, rows)
    return runner, rollout, (states, rows.final_observation) if env.time_limit else None


def _step(
    env: DeviceEnv, policy: ActorCritic, params: Params, runner: Runner, inputs: Any
) -> tuple[Runner, Any]:
    runner, row, state = advance_and_show(env, policy, params, runner, inputs)
    return runner, (row, state)


def _untruncated_values(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    ends: Any,
    cut: tuple[np.ndarray, ...],
    key: jax.Array,
    plan: PoolPlan,
) -> Float[np.ndarray, " cut"]:
    """Return the value of continuing where a time limit cut, some branches at a time."""
    found = []
    for first in range(0, len(cut[0]), _BRANCHES):
        # The last block is filled up with repeats, so that one program serves all blocks.
        time, chain = (np.resize(index[first : first + _BRANCHES], _BRANCHES) for index in cut)
        begin = jax.tree.map(lambda x, t=time, n=chain: x[t, n], ends)
        here = stream(key, "branch", first)
        found.append(
            _branch_values(
                env, policy, params, begin, here, plan.gamma, plan.ahead, plan.reward_scale
            )
        )
    return np.concatenate(found)[: len(cut[0])]


@partial(jax.jit, static_argnames=("env", "policy", "steps", "scale"))
def _branch_values(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    ends: tuple[Any, jax.Array],
    key: jax.Array,
    gamma: jax.Array | float,
    steps: int,
    scale: float | None,
) -> Float[Array, " cut"]:
    """Return the discounted rewards of `steps` more steps, plus the critic's value after them."""
    count = ends[1].shape[0]
    noise, keys, _ = step_inputs(policy, key, steps, count)
    branch = _Branch(*ends, jnp.zeros(count), jnp.ones(count))
    further = partial(_branch_step, env, policy, params, gamma, scale)
    branch = jax.lax.scan(further, branch, (noise, keys))[0]
    return branch.earned + branch.weight * policy.value(params, branch.observation)


def _branch_step(
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


_HOST_POOL_LONGEST = 256
_next_values = jax.jit(next_values)


def host_segments(
    env: HostEnv, host_policy: HostPolicy, plan: PoolPlan, part: range | None = None
) -> Iterator[Segment]:
    """Yield the chains' steps, group by group; a host env cannot continue past a time limit.

    part: these chains of one group alone.
    """
    together = min(plan.envs, plan.chains)
    firsts = range(0, plan.chains, together)
    running: HostEnvs
    if part is None:
        running = env.start(together, vector=plan.vector)
    else:
        firsts = firsts[part.start // together :][:1]
        rows = range(part.start - firsts[0], part.stop - firsts[0])
        running = PartEnvs(env.start(len(rows), vector=plan.vector), rows, together)
    role = f"pool.{plan.round}.{plan.synchronised}"
    every = seeds(plan.seed, role, plan.chains + together)
    try:
        for first in firsts:
            runner = HostRunner(running, every[first : first + together])
            skipped = np.zeros(together, int)
            if not plan.synchronised:
                limit = burn_in(env.time_limit)
                counts = numpy_stream(plan.seed, role, first).integers(limit, 2 * limit, together)
                if getattr(running, "restarts", True):
                    actor = host_policy.actor(first, None, int(counts.max()), together)
                    runner.wander(actor, np.asarray(counts))
                else:  # chains begin at different times instead
                    skipped = counts
            wanted = part or range(first, min(first + together, plan.chains))
            yield from _group(runner, host_policy, plan, first, skipped, wanted)
    finally:
        running.close()


def _group(
    runner: HostRunner,
    host_policy: HostPolicy,
    plan: PoolPlan,
    first: int,
    skipped: np.ndarray,
    wanted: range,
) -> Iterator[Segment]:
    """Yield the segments of one group chain by chain: their counts of valid rows differ.

    skipped: valid rows of each env before its chain begins.
    """
    together, (_, length) = len(skipped), pieces(plan.steps, _HOST_POOL_LONGEST)
    have, place = {chain: -int(skipped[chain - first]) for chain in wanted}, 0
    while min(have.values()) < plan.steps:
        record, _ = runner.go(host_policy.actor(first, place, length, together), length)
        rows = _rows(host_policy, record)
        for chain, count in have.items():
            valid = np.flatnonzero(record.valid[:, chain - first])
            used = valid[max(-count, 0) :]
            if count < plan.steps and len(used):
                own = {name: values[used, chain - first][:, None] for name, values in rows.items()}
                yield Segment(slice(chain, chain + 1), max(count, 0), own)
            have[chain] = count + len(valid)
        place += 1


def _rows(host_policy: HostPolicy, record: Record) -> dict[str, np.ndarray]:
    """Return a record by the names of a pool's arrays, with the critic's values."""
    value = host_policy.values(record.observation)
    last = host_policy.values(record.last_observation[None])[0]
    final = np.zeros_like(value)
    if record.final_observation is not None:
        final = host_policy.values(record.final_observation)
    next_value = np.asarray(_next_values(value, last, final, record.terminated, record.truncated))
    return {
        "observation": record.observation,
        "action": device_kind(record.action),
        "reward": record.reward,
        "value": value,
        "next_value": next_value,
        "next_value_untruncated": next_value,
        "terminated": record.terminated,
        "truncated": record.truncated,
    }


# Arrays beyond this size live in a file that the system pages in and out.
_IN_MEMORY = 2**30


class Pool(NamedTuple):
    """n chains' L steps, time first, as NumPy arrays.

    following: the critic's value of what comes next (0 after a death, the final observation's
    value after a time limit). beyond: the same, but after a time limit the discounted rewards of
    going on without one, where the env can; what a reference needs.
    """

    observation: Shaped[np.ndarray, "L n ..."]
    action: Shaped[np.ndarray, "L n ..."]
    reward: Float[np.ndarray, "L n"]
    value: Float[np.ndarray, "L n"]
    next_value: Float[np.ndarray, "L n"]
    next_value_untruncated: Float[np.ndarray, "L n"]
    terminated: Bool[np.ndarray, "L n"]
    truncated: Bool[np.ndarray, "L n"]

    @property
    def steps(self) -> int:
        return self.reward.shape[0]

    @property
    def chains(self) -> int:
        return self.reward.shape[1]


def collect_pool(
    env: DeviceEnv | HostEnv,
    policy: ActorCritic,
    params: Params,
    plan: PoolPlan,
    progress: PartProgress = lambda done, total: None,
) -> Pool:
    """Collect the pool of `plan`; `progress` is called with steps done and steps in all."""
    key = _key(plan)
    plan = plan._replace(envs=most_envs(env, plan.envs))
    if isinstance(env, HostEnv):
        return collect_host_pool(env, StageHostPolicy(policy, params, key), plan, progress)
    return _assemble(env.id, device_segments(env, policy, params, plan, key), plan, progress)


def collect_part(
    env: HostEnv, policy: ActorCritic, params: Params, plan: PoolPlan, part: range
) -> Pool:
    """Collect some chains of the pool of `plan`, equal to the last byte; all are of one group."""
    segments = host_segments(env, StageHostPolicy(policy, params, _key(plan)), plan, part)
    return _assemble(env.id, segments, plan, lambda done, total: None, part)


def joined(parts: Sequence[Pool]) -> Pool:
    columns = zip(*parts, strict=True)
    return Pool(*(np.concatenate(arrays, axis=1) for arrays in columns))


def collect_host_pool(
    env: HostEnv,
    host_policy: HostPolicy,
    plan: PoolPlan,
    progress: PartProgress = lambda done, total: None,
) -> Pool:
    """Collect the pool of `plan` under a policy of any framework."""
    return _assemble(env.id, host_segments(env, host_policy, plan), plan, progress)


def _key(plan: PoolPlan) -> jax.Array:
    role = "pool.synchronised" if plan.synchronised else "pool"
    return stream(stream(jax.random.key(plan.seed), role), "round", plan.round)


def _assemble(
    id: str,
    segments: Iterator[Segment],
    plan: PoolPlan,
    progress: PartProgress,
    part: range | None = None,
) -> Pool:
    chains = part or range(plan.chains)
    pool: Pool | None = None
    done = 0
    for segment in segments:
        _require_finite(id, segment, plan)
        if plan.reward_scale is not None:
            reward = jnp.asarray(segment.rows["reward"])
            segment.rows["reward"] = np.asarray(divided(reward, plan.reward_scale))
        pool = _allocate(segment, plan.steps, len(chains)) if pool is None else pool
        _place(pool, segment, chains.start)
        done += segment.rows["reward"].size
        progress(min(done, plan.steps * len(chains)), plan.steps * len(chains))
    assert pool is not None, "a pool has at least one step"
    return pool


def _allocate(segment: Segment, steps: int, chains: int) -> Pool:
    return Pool(
        *(
            _array((steps, chains, *rows.shape[2:]), rows.dtype)
            for rows in (segment.rows[name] for name in Pool._fields)
        )
    )


def _array(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    if np.dtype(dtype).itemsize * np.prod(shape, dtype=float) <= _IN_MEMORY:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile() as file:  # stays until the array is gone, then vanishes
        return np.memmap(file, dtype, "w+", shape=shape)


def _place(pool: Pool, segment: Segment, first: int) -> None:
    """Write a segment's rows where they belong; what is over a chain's end is dropped."""
    rows = min(len(segment.rows["reward"]), pool.steps - segment.time)
    chains = slice(segment.chains.start - first, segment.chains.stop - first)
    for name in Pool._fields:
        target = getattr(pool, name)
        target[segment.time : segment.time + rows, chains] = segment.rows[name][:rows]


def _require_finite(id: str, segment: Segment, plan: PoolPlan) -> None:
    for name in ("reward", "observation", "value", "next_value"):
        rows = segment.rows[name]
        if rows.dtype.kind == "f" and not np.isfinite(rows).all():
            time, chain = np.argwhere(~np.isfinite(rows.reshape(*rows.shape[:2], -1)).all(-1))[0]
            raise EnvError(
                f"env '{id}' gave a {name} that is not a finite number",
                where=f"chain {segment.chains.start + chain}, step {segment.time + time}, "
                f"seed {plan.seed}",
                fix=f"run `nbyt check-env {id} --seed {plan.seed}` to see it",
            )
