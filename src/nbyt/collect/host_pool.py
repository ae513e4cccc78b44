"""Chains of host environments, on as few running envs as are allowed, one group after another."""

from collections.abc import Iterator

import jax
import numpy as np

from nbyt.collect.host import HostRunner, Record, device_kind
from nbyt.collect.mind import Mind
from nbyt.collect.rollout import what_follows
from nbyt.collect.segment import PoolPlan, Segment, burn_in, pieces
from nbyt.envs.protocol import HostEnv
from nbyt.rng import numpy_stream, seeds

_LONGEST = 256
_following = jax.jit(what_follows)


def host_segments(env: HostEnv, mind: Mind, plan: PoolPlan) -> Iterator[Segment]:
    """The chains' steps, group by group of chains; a host env cannot go on past a time limit."""
    together = min(plan.envs, plan.chains)
    running = env.start(together, vector=plan.vector)
    role = f"pool.{plan.round}.{plan.synchronised}"
    every = seeds(plan.seed, role, plan.chains + together)
    try:
        for first in range(0, plan.chains, together):
            runner = HostRunner(running, every[first : first + together])
            if not plan.synchronised:
                limit = burn_in(env.time_limit)
                counts = numpy_stream(plan.seed, role, first).integers(limit, 2 * limit, together)
                actor = mind.actor(first, None, int(counts.max()), together)
                runner.wander(actor, np.asarray(counts))
            yield from _group(runner, mind, plan, first, together)
    finally:
        running.close()


def _group(
    runner: HostRunner, mind: Mind, plan: PoolPlan, first: int, together: int
) -> Iterator[Segment]:
    """Segments of one group, chain by chain: each has its own count of rows that are experience."""
    _, length = pieces(plan.steps, _LONGEST)
    wanted = min(together, plan.chains - first)
    have, place = np.zeros(wanted, int), 0
    while have.min() < plan.steps:
        record, _ = runner.go(mind.actor(first, place, length, together), length)
        rows = _rows(mind, record)
        for chain in np.flatnonzero(have < plan.steps):
            valid = np.flatnonzero(record.valid[:, chain])
            own = {name: values[valid, chain][:, None] for name, values in rows.items()}
            yield Segment(slice(first + chain, first + chain + 1), int(have[chain]), own)
        have += record.valid.sum(axis=0)[:wanted]
        place += 1


def _rows(mind: Mind, record: Record) -> dict[str, np.ndarray]:
    """A record by the names of a pool's arrays, with the critic's values."""
    value = mind.values(record.observation)
    last = mind.values(record.last_observation[None])[0]
    final = np.zeros_like(value)
    if record.final_observation is not None:
        final = mind.values(record.final_observation)
    following = np.asarray(_following(value, last, final, record.terminated, record.truncated))
    return {
        "observation": record.observation,
        "action": device_kind(record.action),
        "reward": record.reward,
        "value": value,
        "following": following,
        "beyond": following,
        "terminated": record.terminated,
        "truncated": record.truncated,
    }
