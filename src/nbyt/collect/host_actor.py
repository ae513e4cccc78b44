"""Acting in host environments.

Calling a compiled function costs about 90 microseconds, whatever it does. For a handful of
environments that is more than their own step, so there the actor runs in NumPy; for many
environments, and for images, it is compiled and only the actions come back.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np

from nbyt.collect.host import Actor
from nbyt.collect.rollout import action_noise
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.distributions import Gaussian
from nbyt.policy.normalise import CLIP, TINY
from nbyt.policy.q_policy import QPolicy, greedy, law
from nbyt.rng import stream

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
        """Actions at one time of the rollout: the policy's own, and those for the environments."""
        if not self._in_numpy:
            both = _act(self._policy, self._params, observation, self._noise, np.int32(time))
            return np.asarray(both[0]), np.asarray(both[1])
        parameters = parameters_in_numpy(self._policy, self._params, observation)
        if isinstance(self._policy, QPolicy):
            parameters = law(parameters, self._params.actor["epsilon"])
        action = self._policy.head.sample(parameters, self._noise[time])
        return action, self._policy.head.to_env(action)


def parameters_in_numpy(policy: ActorCritic, params: Params, observation: np.ndarray) -> np.ndarray:
    """What `policy.parameters` gives, for vectors and indices, computed by NumPy."""
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
    """Whether NumPy is the faster way to act with this policy in so many envs."""
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


# Acting by Q-values in host environments, its luck drawn by NumPy.
#
# An update of DQN is a few steps long, so what is done once an update must cost next to nothing:
# no key is made and no program called where NumPy can do it.


class HostQActor:
    """The policy for a few steps: its weights, its share of random actions, and its luck."""

    def __init__(
        self, policy: QPolicy, weights: dict[str, Any], epsilon: float, luck: np.random.Generator
    ) -> None:
        self._policy, self._epsilon, self._luck = policy, epsilon, luck
        self._weights, self._in_numpy = weights, False
        if epsilon < 1:
            self._in_numpy = is_small(policy, Params(weights, None), 1)
        if self._in_numpy:
            self._weights = jax.device_get(weights)

    def act(self, observation: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Actions at one time, twice: the policy's own are those for the environments."""
        del time
        envs, actions = len(observation), self._policy.head.outputs
        action = self._luck.integers(actions, size=envs, dtype=np.int32)
        best = self._luck.random(envs) >= self._epsilon
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


# The actor and critic of a pool of host envs.
#
# A pool needs no more of a policy than this, so a policy of any framework can be measured.


@runtime_checkable
class HostPolicy(Protocol):
    """A frozen actor and critic in whatever framework, as pools of host envs need them.

    It draws its own random numbers, different ones for every group and segment; pools of other
    seeds and rounds need other policies.
    """

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> Actor:
        """Return the actor for a segment of the group that begins with chain `group`.

        segment None is the way to a random phase, before the first segment.
        """
        ...

    def values(self, observation: np.ndarray) -> np.ndarray:
        """The critic's values of observations [L, n, ...], float32 [L, n]."""
        ...


class StageHostPolicy:
    """Policy and weights of a stage, with actions drawn from streams of `key`."""

    def __init__(self, policy: ActorCritic, params: Params, key: jax.Array) -> None:
        self._policy, self._params, self._key = policy, params, key

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> Actor:
        """Return the actor for a segment, or for the way to a random phase."""
        key = stream(self._key, "group", group)
        actions = stream(key, "wander") if segment is None else stream(key, "segment", segment)
        return HostActor(self._policy, self._params, actions, steps, envs)

    def values(self, observation: np.ndarray) -> np.ndarray:
        """The critic's values of observations [L, n, ...]."""
        return np.asarray(_host_policy_values(self._policy, self._params, observation))


@partial(jax.jit, static_argnames=("policy",))
def _host_policy_values(policy: ActorCritic, params: Params, observation: Any) -> jax.Array:
    return policy.value(params, observation)
