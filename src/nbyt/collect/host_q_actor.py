"""Acting by Q-values in host environments, its luck drawn by NumPy.

An update of DQN is a few steps long, so what is done once an update must cost next to nothing:
no key is made and no program called where NumPy can do it.
"""

from functools import partial
from typing import Any

import jax
import numpy as np

from nbyt.collect.host_actor import is_small, parameters_in_numpy
from nbyt.policy.actor_critic import Params
from nbyt.policy.q_policy import QPolicy, greedy


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
