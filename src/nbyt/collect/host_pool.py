"""Chains of host environments, on as few running envs as are allowed, one group after another."""

from collections.abc import Iterator

import jax
import numpy as np

from nbyt.collect.host import HostRunner, Record, device_kind
from nbyt.collect.host_policy import HostPolicy
from nbyt.collect.part import PartEnvs
from nbyt.collect.rollout import what_follows
from nbyt.collect.segment import PoolPlan, Segment, burn_in, pieces
from nbyt.envs.protocol import HostEnv, HostEnvs
from nbyt.rng import numpy_stream, seeds

_LONGEST = 256
_following = jax.jit(what_follows)


def host_segments(
    env: HostEnv, host_policy: HostPolicy, plan: PoolPlan, part: range | None = None
) -> Iterator[Segment]:
    """The chains' steps, group by group of chains; a host env cannot go on past a time limit.

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
            if not plan.synchronised:
                limit = burn_in(env.time_limit)
                counts = numpy_stream(plan.seed, role, first).integers(limit, 2 * limit, together)
                actor = host_policy.actor(first, None, int(counts.max()), together)
                runner.wander(actor, np.asarray(counts))
            wanted = part or range(first, min(first + together, plan.chains))
            yield from _group(runner, host_policy, plan, first, together, wanted)
    finally:
        running.close()


def _group(
    runner: HostRunner,
    host_policy: HostPolicy,
    plan: PoolPlan,
    first: int,
    together: int,
    wanted: range,
) -> Iterator[Segment]:
    """Segments of one group, chain by chain: each has its own count of rows that are experience."""
    _, length = pieces(plan.steps, _LONGEST)
    have, place = dict.fromkeys(wanted, 0), 0
    while min(have.values()) < plan.steps:
        record, _ = runner.go(host_policy.actor(first, place, length, together), length)
        rows = _rows(host_policy, record)
        for chain, count in have.items():
            valid = np.flatnonzero(record.valid[:, chain - first])
            if count < plan.steps:
                own = {name: values[valid, chain - first][:, None] for name, values in rows.items()}
                yield Segment(slice(chain, chain + 1), count, own)
            have[chain] = count + len(valid)
        place += 1


def _rows(host_policy: HostPolicy, record: Record) -> dict[str, np.ndarray]:
    """A record by the names of a pool's arrays, with the critic's values."""
    value = host_policy.values(record.observation)
    last = host_policy.values(record.last_observation[None])[0]
    final = np.zeros_like(value)
    if record.final_observation is not None:
        final = host_policy.values(record.final_observation)
    next_value = np.asarray(_following(value, last, final, record.terminated, record.truncated))
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
