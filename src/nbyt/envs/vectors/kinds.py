"""The kinds of vector envs that are known, and what nbyt needs of each."""

from typing import Any, Protocol

import numpy as np
from gymnasium.spaces import Space

from nbyt.envs.protocol import HostStep


class Vector(Protocol):
    """A running vector env of N rows, as `running.RunningVector` uses it.

    kind: what it is, in words. autoreset: when it resets. limit: the step at which episodes are
    truncated. restarts: True if single envs can be reset. notes: what its user should know.
    """

    kind: str
    envs: int
    observation_space: Space
    action_space: Space
    limit: int | None
    autoreset: str
    restarts: bool
    notes: list[str]

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Reset all envs, and return their observations."""

    def step(self, action: np.ndarray) -> HostStep:
        """Take one action in every env."""

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """Reset the envs where the mask is set, and return the observations of all."""

    def spread(self, counts: np.ndarray) -> bool:
        """Let env i be counts[i] steps into its episode; return False if there is no way."""

    def close(self) -> None:
        """Release everything."""


def is_vector(thing: Any) -> bool:
    """Return True if an object is a running vector env of a kind that is known."""
    return any(known(thing) for known in (_is_gymnasium, _is_sb3, _is_batched))


def adapted(env: Any) -> Vector:
    """Return the adapter of a running vector env."""
    if _is_gymnasium(env):
        from nbyt.envs.vectors.gymnasium_kind import GymnasiumVector

        return GymnasiumVector(env)
    if _is_sb3(env):
        from nbyt.envs.vectors.sb3_kind import SB3Vector

        return SB3Vector(env)
    from nbyt.envs.vectors.batched_kind import BatchedVector

    return BatchedVector(env)


def _is_gymnasium(thing: Any) -> bool:
    from gymnasium.vector import VectorEnv

    return isinstance(thing, VectorEnv)


def _is_sb3(thing: Any) -> bool:
    """Return True for a VecEnv; Stable-Baselines3 itself need not be imported to know it."""
    bases = (f"{base.__module__}.{base.__name__}" for base in type(thing).__mro__)
    return "stable_baselines3.common.vec_env.base_vec_env.VecEnv" in bases


def _is_batched(thing: Any) -> bool:
    """Return True for what has Isaac's interface: num_envs, reset() and step(actions)."""
    has_calls = all(callable(getattr(thing, name, None)) for name in ("reset", "step"))
    return has_calls and isinstance(getattr(thing, "num_envs", None), int)
