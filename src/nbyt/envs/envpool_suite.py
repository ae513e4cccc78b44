"""EnvPool's envs (`envpool:HalfCheetah-v4`); the only file that imports envpool.

EnvPool steps N envs with threads of its own and resets in the next step: the row after an end has
an ignored action and reward 0, and is masked by `valid`. It has no single env and no way to save a
simulator's state.
"""

import warnings
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium.spaces import Space

from nbyt.envs.local import raised
from nbyt.envs.protocol import HostStep
from nbyt.envs.spaces import require_supported
from nbyt.errors import EnvUsageError

_NO_LIMIT = 2**31 - 1


class EnvPoolEnv:
    """An EnvPool env that has been found but not started; equal only to itself."""

    copyable = False
    autoreset = "next step, filler rows are masked"

    def __init__(self, name: str) -> None:
        self.id = f"envpool:{name}"
        self._name = name
        self.observation_space: Space
        self.action_space: Space
        self.observation_space, self.action_space, limit = _facts(name)
        self.time_limit: int | None = None if limit >= _NO_LIMIT else limit

    def start(self, envs: int, *, vector: str = "sync") -> "EnvPoolEnvs":
        """Start N envs; both values of `vector` mean EnvPool's own threads."""
        if envs < 1:
            raise EnvUsageError(
                f"{envs} envs of '{self.id}' cannot be started", fix="use 1 or more"
            )
        if vector not in ("sync", "async"):
            raise EnvUsageError(f"no vector '{vector}'", fix='use "sync" or "async"')
        require_supported(self.observation_space, self.action_space, where=self.id)
        return EnvPoolEnvs(self, self._name, envs)

    def start_one(self) -> None:
        """Return None: EnvPool has no single env."""
        return None


class EnvPoolEnvs:
    """N running EnvPool envs."""

    def __init__(self, env: EnvPoolEnv, name: str, envs: int) -> None:
        self.id = env.id
        self.envs = envs
        self._name = name
        self._action_dtype = env.action_space.dtype
        self._pool: Any = None
        self._steps = 0
        self._ended = np.zeros(envs, bool)

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Return the first observations, N rows, env i started with seeds[i] whatever N is.

        EnvPool takes seeds only when it is built, so a reset builds the pool anew.
        """
        if len(seeds) != self.envs:
            raise EnvUsageError(f"{len(seeds)} seeds for {self.envs} envs", where=self.id)
        self._steps = 0
        self._ended = np.zeros(self.envs, bool)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._pool = _envpool().make(
                    self._name, "gymnasium", num_envs=self.envs, env_seed=list(seeds)
                )
                observation, _ = self._pool.reset()
        except Exception as error:
            raise raised(self.id, error, "in reset", "all envs, step 0") from error
        return observation

    def step(self, action: np.ndarray) -> HostStep:
        """Step every env; the filler row after an end is not valid."""
        # EnvPool hands over fresh arrays on every step, so nothing is copied here.
        actions = np.ascontiguousarray(action, dtype=self._action_dtype)
        try:
            observation, reward, terminated, truncated, _ = self._pool.step(actions)
        except Exception as error:
            raise raised(self.id, error, "in step", f"all envs, step {self._steps}") from error
        self._steps += 1
        valid = ~self._ended
        self._ended = terminated | truncated
        final = observation if self._ended.any() else None
        return HostStep(observation, reward, terminated, truncated, valid, final)

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """Begin new episodes where the mask is set, and return the observations of all envs."""
        fresh = observation.copy()
        fresh[mask], _ = self._pool.reset(np.flatnonzero(mask))
        self._ended &= ~mask
        return fresh

    def close(self) -> None:
        """Let go of the pool and its threads."""
        self._pool = None


def find(name: str) -> EnvPoolEnv | None:
    """Find the env that EnvPool knows as `name`; None if it does not know it."""
    return EnvPoolEnv(name) if name in _envpool().list_all_envs() else None


def names() -> list[str]:
    """List the ids that `find` knows, for suggestions."""
    return sorted(_envpool().list_all_envs())


def _envpool() -> ModuleType:
    import envpool

    return envpool


def _facts(name: str) -> tuple[Space, Space, int]:
    try:
        with warnings.catch_warnings():
            # Gymnasium warns that the bounds of EnvPool's boxes lose precision; they do not here.
            warnings.simplefilter("ignore")
            spec = _envpool().make_spec(name)
            limit = getattr(spec.config, "max_episode_steps", _NO_LIMIT)
            return spec.gymnasium_observation_space, spec.gymnasium_action_space, int(limit)
    except Exception as error:
        raise EnvUsageError(
            f"env 'envpool:{name}' cannot be built: {type(error).__name__}: {error}",
            fix="some EnvPool families need assets of their own: see envpool's documentation",
        ) from error
