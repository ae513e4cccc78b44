"""Chains of host environments, on as few running envs as are allowed, one group after another."""

from collections.abc import Iterator
from functools import partial

import jax
import numpy as np

from nbyt.collect.host import HostRunner, Record, rollout
from nbyt.collect.rollout import Rollout, next_value
from nbyt.collect.segment import PoolPlan, Segment, burn_in, pieces
from nbyt.envs.protocol import HostEnv
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.rng import numpy_stream, seeds, stream

_LONGEST = 256
_COPIED = ("observation", "action", "reward", "value", "terminated", "truncated")


def host_segments(
    env: HostEnv, policy: ActorCritic, params: Params, plan: PoolPlan, key: jax.Array
) -> Iterator[Segment]:
    """The chains' steps, group by group of chains; a host env cannot go on past a time limit."""
    together = min(plan.envs, plan.chains)
    running = env.start(together, vector=plan.vector)
    role = f"pool.{plan.round}.{plan.synchronised}"
    every = seeds(plan.seed, role, plan.chains + together)
    try:
        for first in range(0, plan.chains, together):
            runner = HostRunner(running, policy, every[first : first + together])
            here = stream(key, "group", first)
            if not plan.synchronised:
                limit = burn_in(env.time_limit)
                counts = numpy_stream(plan.seed, role, first).integers(limit, 2 * limit, together)
                runner.wander(params, stream(here, "wander"), np.asarray(counts))
            yield from _group(runner, policy, params, plan, here, first, together)
    finally:
        running.close()


def _group(
    runner: HostRunner,
    policy: ActorCritic,
    params: Params,
    plan: PoolPlan,
    key: jax.Array,
    first: int,
    together: int,
) -> Iterator[Segment]:
    """Segments of one group, chain by chain: each has its own count of rows that are experience."""
    _, length = pieces(plan.steps, _LONGEST)
    wanted = min(together, plan.chains - first)
    have, place = np.zeros(wanted, int), 0
    while have.min() < plan.steps:
        record, _ = runner.collect(params, stream(key, "segment", place), length)
        made, following = _digest(policy, params, record)
        rows = {name: np.asarray(getattr(made, name)) for name in _COPIED}
        rows["following"] = rows["beyond"] = np.asarray(following)
        for chain in np.flatnonzero(have < plan.steps):
            valid = np.flatnonzero(record.valid[:, chain])
            own = {name: values[valid, chain][:, None] for name, values in rows.items()}
            yield Segment(slice(first + chain, first + chain + 1), int(have[chain]), own)
        have += record.valid.sum(axis=0)[:wanted]
        place += 1


@partial(jax.jit, static_argnames=("policy",))
def _digest(policy: ActorCritic, params: Params, record: Record) -> tuple[Rollout, jax.Array]:
    made = rollout(policy, params, record)
    return made, next_value(made)
