"""A pool: n independent chains of a frozen policy, each one env's long stream of experience.

Chains stand at random phases of an episode when they begin, so every step of a chain is drawn
from the law that a long training run's rollouts have. Filler rows are left out: every row of a
chain is experience.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Shaped

from nbyt.collect.device_pool import device_segments
from nbyt.collect.host_policy import HostPolicy, StageHostPolicy
from nbyt.collect.host_pool import host_segments
from nbyt.collect.segment import PoolPlan, Segment
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import EnvError
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.normalise import divided
from nbyt.rng import stream

# Arrays beyond this size live in a file that the system pages in and out.
_IN_MEMORY = 2**30

Progress = Callable[[int, int], None]


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
        """Steps of each chain."""
        return self.reward.shape[0]

    @property
    def chains(self) -> int:
        """How many chains."""
        return self.reward.shape[1]


def collect_pool(
    env: DeviceEnv | HostEnv,
    policy: ActorCritic,
    params: Params,
    plan: PoolPlan,
    progress: Progress = lambda done, total: None,
) -> Pool:
    """The pool that `plan` asks for; `progress` hears of steps done and steps in all."""
    key = _key(plan)
    if isinstance(env, HostEnv):
        return collect_host_pool(env, StageHostPolicy(policy, params, key), plan, progress)
    return _put_together(env.id, device_segments(env, policy, params, plan, key), plan, progress)


def collect_part(
    env: HostEnv, policy: ActorCritic, params: Params, plan: PoolPlan, part: range
) -> Pool:
    """Some chains of the pool that `plan` asks for, to the last byte; all are of one group."""
    segments = host_segments(env, StageHostPolicy(policy, params, _key(plan)), plan, part)
    return _put_together(env.id, segments, plan, lambda done, total: None, part)


def joined(parts: Sequence[Pool]) -> Pool:
    """The pool that was collected in parts, given in order."""
    columns = zip(*parts, strict=True)
    return Pool(*(np.concatenate(arrays, axis=1) for arrays in columns))


def collect_host_pool(
    env: HostEnv,
    host_policy: HostPolicy,
    plan: PoolPlan,
    progress: Progress = lambda done, total: None,
) -> Pool:
    """The pool that `plan` asks for, under a policy of any framework."""
    return _put_together(env.id, host_segments(env, host_policy, plan), plan, progress)


def _key(plan: PoolPlan) -> jax.Array:
    role = "pool.synchronised" if plan.synchronised else "pool"
    return stream(stream(jax.random.key(plan.seed), role), "round", plan.round)


def _put_together(
    id: str,
    segments: Iterator[Segment],
    plan: PoolPlan,
    progress: Progress,
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
