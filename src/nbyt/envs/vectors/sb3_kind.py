"""A user's own Stable-Baselines3 `VecEnv`; Stable-Baselines3 itself is not imported."""

from typing import Any

import numpy as np

from nbyt.envs.protocol import HostStep
from nbyt.envs.vectors.observations import Packing, counted_from, zero_based

# Some take no more than 32 bits, and add the number of the env.
_SEEDS = 2**31
# Whose envs can be reset one by one without a wrapper that would not learn of it.
_PLAIN = ("DummyVecEnv", "SubprocVecEnv")


class SB3Vector:
    """The rows of a VecEnv."""

    kind = "a Stable-Baselines3 VecEnv"
    autoreset = "same step"

    def __init__(self, env: Any) -> None:
        self._env, self.envs = env, int(env.num_envs)
        self._packing = Packing(env.observation_space)
        self.observation_space = self._packing.space
        self.action_space = zero_based(env.action_space)
        self._first = counted_from(env.action_space)
        self.limit: int | None = None
        self.restarts = type(env).__name__ in _PLAIN
        self.notes: list[str] = []

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Reset all envs; env i has the first seed plus i, as VecEnvs count."""
        self._env.seed(seeds[0] % _SEEDS)
        return self._packing.rows(self._env.reset())

    def step(self, action: np.ndarray) -> HostStep:
        """Take one action in every env."""
        seen, reward, ended, infos = self._env.step(action + self._first)
        rows, ended = self._packing.rows(seen), np.array(ended, bool)
        truncated, final = np.zeros(self.envs, bool), None
        for env in np.flatnonzero(ended):
            if final is None:
                final = np.zeros_like(rows)
            final[env] = self._packing.row(infos[env]["terminal_observation"])
            truncated[env] = infos[env].get("TimeLimit.truncated", False)
        valid = np.ones(self.envs, bool)
        return HostStep(rows, np.array(reward), ended & ~truncated, truncated, valid, final)

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """Reset the envs where the mask is set, and return the observations of all."""
        fresh, chosen = observation.copy(), [int(env) for env in np.flatnonzero(mask)]
        for env, (seen, _) in zip(
            chosen, self._env.env_method("reset", indices=chosen), strict=True
        ):
            fresh[env] = self._packing.row(seen)
        return fresh

    def spread(self, counts: np.ndarray) -> bool:
        """Return False: there is no common way."""
        return False

    def close(self) -> None:
        self._env.close()
