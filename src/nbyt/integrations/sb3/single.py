"""A VecEnv of one env as a Gymnasium env: what a model's policy sees, one env at a time."""

from typing import Any

import numpy as np
from gymnasium import Env, Wrapper
from gymnasium.spaces import Discrete, MultiDiscrete, Space

from nbyt.integrations.sb3.one_env import OneEnv
from nbyt.integrations.sb3.packing import Packing
from nbyt.integrations.sb3.wrappers import Layer


class Single(Wrapper):
    """An env seen through vec wrappers; observations with several parts are packed into one array.

    It is a wrapper so that what is asked of the env inside (its time limit) is found. The vec env
    resets by itself when an episode ends; the next reset without a seed gives that observation.
    """

    def __init__(self, env: Env, layers: list[Layer]) -> None:
        super().__init__(env)
        self.vec_env: Any = OneEnv(env)
        for layer in layers:
            self.vec_env = layer(self.vec_env)
        self._packing = Packing(self.vec_env.observation_space)
        self.observation_space = self._packing.space
        self.action_space = _as_sent(self.vec_env.action_space)
        self._begun: np.ndarray | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The first observation of an episode: of the one begun already, or with the seed anew."""
        begun, self._begun = self._begun, None
        if begun is not None and seed is None:
            return begun, {}
        if seed is not None:
            self.vec_env.seed(seed)
        return self._packing.pack(self.vec_env.reset())[0], {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One step; where the episode ends, the observation is its last."""
        rows, rewards, ends, infos = self.vec_env.step(np.asarray(action)[None])
        observation, reward = self._packing.pack(rows)[0], float(rewards[0])
        if not ends[0]:
            return observation, reward, False, False, {}
        self._begun = observation
        truncated = bool(infos[0].get("TimeLimit.truncated", False))
        last = self._packing.pack(infos[0]["terminal_observation"])
        return last, reward, not truncated, truncated, {}

    def close(self) -> None:
        """Close the env inside."""
        self.vec_env.close()


def _as_sent(space: Space) -> Space:
    """The actions that Stable-Baselines3 sends: it counts them from 0 wherever the space starts."""
    if isinstance(space, Discrete):
        return Discrete(int(space.n))
    return MultiDiscrete(space.nvec) if isinstance(space, MultiDiscrete) else space
