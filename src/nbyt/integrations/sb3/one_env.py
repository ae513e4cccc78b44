"""One env with as much of a VecEnv as Stable-Baselines3's vec wrappers use.

Its own DummyVecEnv copies observations and infos deeply in every step, which takes longer than the
step of a small env. Here an info tells of ends, and of nothing else.
"""

import copy
from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Dict


class OneEnv:
    """A VecEnv of one: arrays have one row, and an episode that ends is followed by the next."""

    num_envs = 1

    def __init__(self, env: Env) -> None:
        self._env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self._seed: int | None = None
        self._action: Any = None

    def seed(self, seed: int | None = None) -> None:
        """Take the seed for the next reset."""
        self._seed = seed

    def reset(self) -> Any:
        """First observations."""
        seed, self._seed = self._seed, None
        return self._rows(self._env.reset(seed=seed)[0])

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards, whether an episode ended, and how it did."""
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions for the next step."""
        self._action = actions[0]

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """What the step brought; observations are those of the next episode where one ended."""
        observation, reward, terminated, truncated, _ = self._env.step(self._action)
        ended, info = bool(terminated or truncated), {}
        if ended:
            # Copied, because wrappers write into it and the env may still need it.
            info["terminal_observation"] = copy.deepcopy(observation)
            info["TimeLimit.truncated"] = bool(truncated and not terminated)
            observation, _ = self._env.reset()
        return self._rows(observation), np.array([reward], np.float32), np.array([ended]), [info]

    def get_attr(self, name: str, indices: Any = None) -> list[Any]:
        """An attribute of the env or its wrappers."""
        return [self._env.get_wrapper_attr(name)]

    def close(self) -> None:
        """Close the env."""
        self._env.close()

    def _rows(self, observation: Any) -> Any:
        space = self.observation_space
        if isinstance(space, Dict):
            return {name: _row(observation[name], part) for name, part in space.spaces.items()}
        return _row(observation, space)


def _row(observation: Any, space: Any) -> np.ndarray:
    return np.array(observation, space.dtype)[None]
