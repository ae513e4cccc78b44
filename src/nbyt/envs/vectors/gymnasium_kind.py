"""A user's own `gymnasium.vector.VectorEnv`, with any of Gymnasium's three autoreset modes."""

from typing import Any

import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from nbyt.envs.protocol import HostStep
from nbyt.envs.vectors.observations import Packing, counted_from, zero_based

_WORDS = {
    AutoresetMode.NEXT_STEP: "next step, filler rows are masked",
    AutoresetMode.SAME_STEP: "same step",
    AutoresetMode.DISABLED: "none, nbyt resets",
}


class GymnasiumVector:
    """The rows of a Gymnasium vector env."""

    kind = "a Gymnasium vector env"

    def __init__(self, env: VectorEnv) -> None:
        self._env, self.envs = env, env.num_envs
        self._packing = Packing(env.single_observation_space)
        self.observation_space = self._packing.space
        self.action_space = zero_based(env.single_action_space)
        self._first = counted_from(env.single_action_space)
        self._mode = mode_of(env)
        self._own = isinstance(env.unwrapped, SyncVectorEnv | AsyncVectorEnv)
        self.autoreset, self.limit = _WORDS[self._mode], _limit(env)
        # Others may ignore the mask and reset every env; without autoreset they must obey it.
        self.restarts = self._own or self._mode is AutoresetMode.DISABLED
        self.notes: list[str] = []
        self._ended = np.zeros(self.envs, bool)

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Reset all envs; those of an env that is not Gymnasium's own get one seed for all."""
        self._ended = np.zeros(self.envs, bool)
        given: Any = list(seeds) if self._own else seeds[0]
        return self._rows(self._env.reset(seed=given)[0])

    def step(self, action: np.ndarray) -> HostStep:
        """Take one action in every env."""
        seen, reward, terminated, truncated, info = self._env.step(action + self._first)
        rows = self._rows(seen)
        terminated, truncated = np.array(terminated, bool), np.array(truncated, bool)
        is_next = self._mode is AutoresetMode.NEXT_STEP
        valid = ~self._ended if is_next else np.ones(self.envs, bool)
        self._ended = (terminated | truncated) & valid
        final = None
        if self._ended.any():
            final = self._final(rows, info)
            if self._mode is AutoresetMode.DISABLED:
                rows = self.restart(self._ended, rows)
        return HostStep(rows, np.array(reward), terminated, truncated, valid, final)

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """Reset the envs where the mask is set, and return the observations of all."""
        fresh = self._rows(self._env.reset(options={"reset_mask": mask})[0])
        self._ended = self._ended & ~mask
        return np.where(mask.reshape(-1, *(1,) * (fresh.ndim - 1)), fresh, observation)

    def spread(self, counts: np.ndarray) -> bool:
        """Return False: there is no common way."""
        return False

    def close(self) -> None:
        self._env.close()

    def _rows(self, observation: Any) -> np.ndarray:
        return self._packing.rows(observation)

    def _final(self, rows: np.ndarray, info: dict[str, Any]) -> np.ndarray:
        """Return the last observations of the episodes that ended."""
        if self._mode is not AutoresetMode.SAME_STEP:
            return rows
        last = next(
            (info[name] for name in ("final_obs", "final_observation") if name in info), None
        )
        if last is None:
            raise KeyError("info has no 'final_obs', which same-step autoreset promises")
        is_object = isinstance(last, np.ndarray) and last.dtype == object
        if not is_object:  # a batch of them, or a dictionary of batches
            return self._rows(last)
        final = np.zeros_like(rows)
        for env in np.flatnonzero(self._ended):
            final[env] = self._packing.row(last[env])
        return final


def mode_of(env: VectorEnv) -> AutoresetMode:
    """Return when a vector env resets; Gymnasium's own default where its metadata does not say."""
    said = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
    return said if isinstance(said, AutoresetMode) else AutoresetMode(said)


def _limit(env: VectorEnv) -> int | None:
    """Return the step at which episodes are truncated, as far as the env says."""
    if isinstance(env.unwrapped, SyncVectorEnv):
        from nbyt.envs.gymnasium_suite import time_limit

        return time_limit(env.unwrapped.envs[0])
    said = getattr(env.spec, "max_episode_steps", None)
    return int(said) if said else None
