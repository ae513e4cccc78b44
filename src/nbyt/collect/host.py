"""Collecting from host environments: stepped here, digested on the device in one piece."""

from typing import NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np

from nbyt.collect.rollout import Episodes, Rollout
from nbyt.envs.protocol import HostEnvs, HostStep
from nbyt.policy.actor_critic import ActorCritic, Params


class Record(NamedTuple):
    """What the environments showed in T steps, as NumPy arrays [T, N, ...].

    final_observation is [T, N, ...] where some episode was truncated, else None.
    """

    observation: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    valid: np.ndarray
    final_observation: np.ndarray | None
    last_observation: np.ndarray


@runtime_checkable
class Actor(Protocol):
    """Whoever decides what the environments do."""

    def act(self, observation: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Actions at one time of the rollout: the policy's own, and those for the environments."""
        ...


class HostRunner:
    """N running host environments, where they stand, and their episodes so far."""

    def __init__(self, running: HostEnvs, seeds: list[int]) -> None:
        self._running = running
        self.observation = running.reset(seeds)
        self._returns = np.zeros(running.envs)
        self._lengths = np.zeros(running.envs)

    def go(self, actor: Actor, steps: int) -> tuple[Record, Episodes]:
        """The next `steps` steps of every environment, with the actions of that actor."""
        rows: list[tuple[np.ndarray, np.ndarray, HostStep]] = []
        finished: list[tuple[float, float]] = []
        for time in range(steps):
            before = self.observation
            action, env_action = actor.act(before, time)
            step = self._running.step(env_action)
            rows.append((before, action, step))
            self.observation = step.observation
            finished += self._tally(step)
        episodes = Episodes(
            np.float32(len(finished)), *(np.float32(sum(x)) for x in _columns(finished))
        )
        return _record(rows, self.observation), episodes

    def wander(self, actor: Actor, counts: np.ndarray) -> None:
        """Let env i go counts[i] steps from a reset, so that the envs stand at random phases."""
        limit = int(counts.max(initial=0))
        for time in range(limit + 1):
            # An env that has fewer steps to go starts later, from a reset at its own time.
            late = counts == limit - time
            if time and late.any():
                self.observation = self._running.restart(late, self.observation)
                self._returns[late] = self._lengths[late] = 0
            if time == limit:
                break
            step = self._running.step(actor.act(self.observation, time)[1])
            self.observation = step.observation
            self._tally(step)

    def close(self) -> None:
        """Release the environments."""
        self._running.close()

    def _tally(self, step: HostStep) -> list[tuple[float, float]]:
        """Returns and lengths of the episodes that ended in this step."""
        counted = step.valid & np.isfinite(step.reward)
        self._returns += np.where(counted, step.reward, 0.0)
        self._lengths += step.valid
        ended = np.flatnonzero(step.terminated | step.truncated)
        if not ended.size:
            return []
        finished = list(zip(self._returns[ended], self._lengths[ended], strict=True))
        self._returns[ended] = self._lengths[ended] = 0
        return finished


def rollout(policy: ActorCritic, params: Params, record: Record) -> Rollout:
    """The record with the critic's values and the policy's log-probabilities; compiles."""
    final_value = jnp.zeros(record.reward.shape)
    if record.final_observation is not None:
        final = policy.value(params, jnp.asarray(record.final_observation))
        final_value = jnp.where(record.truncated, final, 0.0)
    observation = jnp.asarray(record.observation)
    parameters = policy.parameters(params, observation)
    return Rollout(
        observation,
        jnp.asarray(record.action),
        policy.head.log_prob(parameters, jnp.asarray(record.action)),
        policy.value(params, observation),
        jnp.asarray(record.reward),
        jnp.asarray(record.terminated),
        jnp.asarray(record.truncated),
        jnp.asarray(record.valid),
        final_value,
        policy.value(params, jnp.asarray(record.last_observation)),
    )


def _columns(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


def _record(rows: list[tuple[np.ndarray, np.ndarray, HostStep]], last: np.ndarray) -> Record:
    observations, actions, steps = zip(*rows, strict=True)
    # Gymnasium reports both where an episode dies in the step of its time limit: a death it is.
    truncated = np.stack([step.truncated & ~step.terminated for step in steps])
    final = None
    if truncated.any():
        blank = np.zeros_like(last)
        final = np.stack(
            [blank if s.final_observation is None else s.final_observation for s in steps]
        )
    return Record(
        device_kind(np.stack(observations)),
        np.stack(actions),
        np.stack([step.reward for step in steps]).astype(np.float32),
        np.stack([step.terminated for step in steps]),
        truncated,
        np.stack([step.valid for step in steps]),
        None if final is None else device_kind(final),
        device_kind(last),
    )


def device_kind(array: np.ndarray) -> np.ndarray:
    """The array in the precision the device works in, so that no program is compiled twice."""
    kinds = {"f": np.float32, "i": np.int32, "b": np.float32}
    if array.dtype == np.uint8:
        return array
    return array.astype(kinds.get(array.dtype.kind, np.int32), copy=False)
