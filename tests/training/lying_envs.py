"""Environments that lie: a NaN at a chosen env and step, on the host and on the device."""

from typing import Any

import gymnasium
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete

from nbyt.envs import Transition


class NaNReward(gymnasium.Env):
    """Pays NaN in the 7th step of an env; an episode is 100 steps."""

    observation_space = Box(-1, 1, (2,), np.float32)
    action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._time = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        self._time += 1
        reward = float("nan") if self._time == 7 else 1.0
        return np.zeros(2, np.float32), reward, self._time == 100, False, {}


class NaNObservation:
    """A device env whose observation is NaN after 5 steps in one env of two."""

    id = "tests:nan"
    observation_space = Box(-10, 10, (1,), np.float32)
    action_space = Discrete(2)
    time_limit = 50

    def reset(self, key: Any) -> tuple[Any, Any]:
        import jax

        sick = jax.random.bernoulli(key, 0.5)
        return (jnp.int32(0), sick), jnp.zeros(1)

    def step(self, key: Any, state: Any, action: Any) -> Transition:
        time, sick = state[0] + 1, state[1]
        seen = jnp.where(sick & (time == 5), jnp.nan, time.astype(jnp.float32))
        return Transition(
            (time, sick), seen.reshape(1), jnp.float32(1), time >= 60, (time >= 50) & (time < 60)
        )


def nan_observation() -> NaNObservation:
    """A factory, as users name one on the command line."""
    return NaNObservation()
