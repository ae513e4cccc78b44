"""Acting in host environments.

Calling a compiled function costs about 90 microseconds, whatever it does. For a handful of
environments that is more than their own step, so there the actor runs in NumPy; for many
environments, and for images, it is compiled and only the actions come back.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

from nbyt.collect.rollout import action_noise
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.distributions import Gaussian
from nbyt.policy.normalise import CLIP, TINY
from nbyt.policy.q_policy import QPolicy, law

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
