"""Collect from host environments, acting in NumPy or by a compiled program."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from nbyt.collect.rollout import Episodes, Rollout, action_noise
from nbyt.envs.protocol import HostEnvs, HostStep
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.distributions import Gaussian
from nbyt.policy.normalise import CLIP, TINY
from nbyt.policy.q_policy import QPolicy, greedy, law
from nbyt.rng import stream


class Record(NamedTuple):
    """T steps of the environments, as NumPy arrays [T, N, ...].

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
    """Chooses the actions of the environments."""

    def act(self, observation: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the actions at one time of the rollout: the policy's, and those for the envs."""


class HostRunner:
    """N running host environments, their observations, and their episodes so far."""

    def __init__(self, running: HostEnvs, seeds: list[int]) -> None:
        self._running = running
        self.observation = running.reset(seeds)
        self._returns = np.zeros(running.envs)
        self._lengths = np.zeros(running.envs)

    def go(self, actor: Actor, steps: int) -> tuple[Record, Episodes]:
        """Step every environment `steps` times with the actions of that actor."""
        rows: list[tuple[np.ndarray, np.ndarray, HostStep]] = []
        finished: list[tuple[float, float]] = []
        for time in range(steps):
            before = self.observation
            action, env_action = actor.act(before, time)
            step = self._running.step(env_action)
            rows.append((before, action, step))
            self.observation = step.observation
            finished += self._tally(step)
        sums = (np.float32(sum(pair[k] for pair in finished)) for k in range(2))
        return _record(rows, self.observation), Episodes(np.float32(len(finished)), *sums)

    def wander(self, actor: Actor, counts: np.ndarray) -> None:
        """Step env i counts[i] times from a reset, so that the envs are at random phases."""
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
        self._running.close()

    def _tally(self, step: HostStep) -> list[tuple[float, float]]:
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
    """Add the critic's values and the policy's log-probabilities to a record; compiles."""
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
    """Convert the array to the device's precision, so that no program is compiled twice."""
    kinds = {"f": np.float32, "i": np.int32, "b": np.float32}
    if array.dtype == np.uint8:
        return array
    return array.astype(kinds.get(array.dtype.kind, np.int32), copy=False)


# Calling a compiled function costs about 90 microseconds, whatever it does. For a handful of
# environments that is more than their own step, so there the actor runs in NumPy; for many
# environments, and for images, it is compiled and only the actions come back.

_FEW_ENVS = 64
_FEW_WEIGHTS = 100_000

_ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "swish": lambda x: x / (1 + np.exp(-x)),
}


class HostActor:
    """The policy for one rollout: its weights and the noise of all its actions."""

    def __init__(
        self, policy: ActorCritic, params: Params, key: jax.Array, steps: int, envs: int
    ) -> None:
        self._policy, self._params = policy, params
        self._noise = _noise(policy, key, steps, envs)
        self._in_numpy = is_small(policy, params, envs)
        if self._in_numpy:
            self._params, self._noise = jax.device_get((params, self._noise))

    def act(self, observation: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        if not self._in_numpy:
            both = _act(self._policy, self._params, observation, self._noise, np.int32(time))
            return np.asarray(both[0]), np.asarray(both[1])
        parameters = parameters_in_numpy(self._policy, self._params, observation)
        if isinstance(self._policy, QPolicy):
            parameters = law(parameters, self._params.actor["epsilon"])
        action = self._policy.head.sample(parameters, self._noise[time])
        return action, self._policy.head.to_env(action)


def parameters_in_numpy(policy: ActorCritic, params: Params, observation: np.ndarray) -> np.ndarray:
    """Compute `policy.parameters` in NumPy, for vectors and indices."""
    if policy.network.kind == "table":
        return params.actor["logits"][observation]
    hidden = _encoded(policy, params, observation)
    activation = _ACTIVATIONS[policy.network.activation]
    for layer in params.torso or params.actor["layers"]:
        hidden = activation(hidden @ layer["w"] + layer["b"])
    output = hidden @ params.actor["head"]["w"].T + params.actor["head"]["b"]
    if not isinstance(policy.head, Gaussian):
        return output
    return np.concatenate([output, np.broadcast_to(params.actor["log_std"], output.shape)], axis=-1)


@partial(jax.jit, static_argnames=("policy",))
def _act(
    policy: ActorCritic, params: Params, observation: Any, noise: jax.Array, time: Any
) -> tuple[jax.Array, jax.Array]:
    action = policy.head.sample(policy.parameters(params, observation), noise[time])
    return action, policy.head.to_env(action)


@partial(jax.jit, static_argnames=("policy", "steps", "envs"))
def _noise(policy: ActorCritic, key: jax.Array, steps: int, envs: int) -> jax.Array:
    return action_noise(policy.head, key, steps, envs)


def is_small(policy: ActorCritic, params: Params, envs: int) -> bool:
    """Return True if NumPy is the faster way to act with this policy in this many envs."""
    weights = sum(leaf.size for leaf in jax.tree.leaves((params.actor, params.torso)))
    dense = policy.network.kind in ("mlp", "table")
    return dense and envs <= _FEW_ENVS and (weights <= _FEW_WEIGHTS or policy.kind == "index")


def _encoded(policy: ActorCritic, params: Params, observation: np.ndarray) -> np.ndarray:
    if policy.kind == "index":
        return np.eye(policy.shape[0], dtype=np.float32)[observation]
    flat = observation.reshape(len(observation), -1).astype(np.float32, copy=False)
    moments = params.observation
    if moments is None:
        return flat
    return ((flat - moments.mean) / np.sqrt(moments.variance + TINY)).clip(-CLIP, CLIP)


# An update of DQN is a few steps long, so what is done once an update must cost next to nothing:
# no key is made and no program called where NumPy can do it.


class HostQActor:
    """The policy for a few steps: its weights, its share of random actions, and its generator."""

    def __init__(
        self,
        policy: QPolicy,
        weights: dict[str, Any],
        epsilon: float,
        generator: np.random.Generator,
    ) -> None:
        self._policy, self._epsilon, self._generator = policy, epsilon, generator
        self._weights, self._in_numpy = weights, False
        if epsilon < 1:
            self._in_numpy = is_small(policy, Params(weights, None), 1)
        if self._in_numpy:
            self._weights = jax.device_get(weights)

    def act(self, observation: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        del time
        envs, actions = len(observation), self._policy.head.outputs
        action = self._generator.integers(actions, size=envs, dtype=np.int32)
        best = self._generator.random(envs) >= self._epsilon
        if best.any():
            action = np.where(best, self._best(observation), action).astype(np.int32)
        return action, action

    def _best(self, observation: np.ndarray) -> np.ndarray:
        if self._in_numpy:
            params = Params(self._weights, None)
            return parameters_in_numpy(self._policy, params, observation).argmax(axis=-1)
        return np.asarray(_values(self._policy, self._weights, observation)).argmax(axis=-1)


@partial(jax.jit, static_argnames=("policy",))
def _values(policy: QPolicy, weights: dict[str, Any], observation: Any) -> jax.Array:
    return policy.values(greedy(weights), observation)


# A pool needs no more of a policy than this, so a policy of any framework can be measured.


@runtime_checkable
class HostPolicy(Protocol):
    """A frozen actor and critic of any framework, as pools of host envs need them.

    It draws its own random numbers, different ones for every group and segment; pools of other
    seeds and rounds need other policies.
    """

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> Actor:
        """Return the actor for a segment of the group that begins with chain `group`.

        segment None is the way to a random phase, before the first segment.
        """

    def values(self, observation: np.ndarray) -> np.ndarray:
        """Return the critic's values of observations [L, n, ...], float32 [L, n]."""


class StageHostPolicy:
    """Policy and weights of a stage, with actions drawn from streams of `key`."""

    def __init__(self, policy: ActorCritic, params: Params, key: jax.Array) -> None:
        self._policy, self._params, self._key = policy, params, key

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> Actor:
        key = stream(self._key, "group", group)
        actions = stream(key, "wander") if segment is None else stream(key, "segment", segment)
        return HostActor(self._policy, self._params, actions, steps, envs)

    def values(self, observation: np.ndarray) -> np.ndarray:
        return np.asarray(_host_policy_values(self._policy, self._params, observation))


@partial(jax.jit, static_argnames=("policy",))
def _host_policy_values(policy: ActorCritic, params: Params, observation: Any) -> jax.Array:
    return policy.value(params, observation)
