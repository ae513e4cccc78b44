"""What an environment is to nbyt: one protocol on the device, one on the host.

On the device an environment is a pair of pure functions and never resets by itself: the collector
does that, in one place. On the host it is a vector of N environments that reset by themselves, in
the same step or in the next, and every row says whether it is experience (`valid`).

terminated: the episode ended for good, nothing comes after. truncated: it was cut (a time limit),
and the value of `final_observation` stands for what would have come.
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Space


class Transition(NamedTuple):
    """One step of one device environment; `observation` is the one before any reset."""

    state: Any
    observation: Any
    reward: Any
    terminated: Any
    truncated: Any


class Found(Protocol):
    """What is known of every environment that has been found."""

    @property
    def id(self) -> str:
        """Return the id that finds this env."""

    @property
    def observation_space(self) -> Space:
        """Return the space of one env's observations."""

    @property
    def action_space(self) -> Space:
        """Return the space of one env's actions."""

    @property
    def time_limit(self) -> int | None:
        """Return the step at which an episode is truncated; None where it never is."""


@runtime_checkable
class DeviceEnv(Found, Protocol):
    """An environment whose reset and step are pure JAX functions, for one env; `vmap` makes N.

    The state is a pytree, so it can be copied and branched from. Instances are hashable and are
    static arguments of compiled functions.
    """

    def reset(self, key: Any) -> tuple[Any, Any]:
        """Return a start state and its observation."""

    def step(self, key: Any, state: Any, action: Any) -> Transition:
        """Return the transition that `action` causes from `state`; no reset."""


class HostStep(NamedTuple):
    """One step of N host environments, NumPy arrays with N rows.

    observation: what the policy sees next (after a reset where the env resets in the same step).
    valid: False on the filler row that follows an end where envs reset in the next step; its
    action was ignored and it is not experience.
    final_observation: the last observation of the episodes that ended in this step; rows of other
    envs are meaningless; None where no episode ended.
    """

    observation: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    valid: np.ndarray
    final_observation: np.ndarray | None


@runtime_checkable
class HostEnvs(Protocol):
    """N running host environments."""

    envs: int

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Start every env anew, env i with seeds[i]; the first observations, N rows."""

    def step(self, action: np.ndarray) -> HostStep:
        """Take one action in every env."""

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """Begin new episodes where the mask is set, and return the observations of all envs."""

    def close(self) -> None:
        """Release processes and memory."""


@runtime_checkable
class HostEnv(Found, Protocol):
    """A host environment that has been found but not started; `start` makes N of them."""

    @property
    def copyable(self) -> bool:
        """Return True if the simulator's state can be saved and put back (envs.copying)."""

    def start(self, envs: int, *, vector: str = "sync") -> HostEnvs:
        """Start N envs; `vector` is "sync" (one process) or "async" (a process each)."""

    def start_one(self) -> Env | None:
        """Build a single Gymnasium env, or return None where the suite has none (EnvPool)."""


def most_envs(env: Any, wanted: int) -> int:
    """Return how many envs a layout may have: `wanted`, or a vector env's fixed N if that is less.

    Any number of device envs, and of rows of a vector env whose N is a choice, can be had.
    """
    return min(wanted, getattr(env, "most_envs", wanted))


def usual_envs(env: Any, batch: int, single: int) -> int:
    """Return the most envs of a layout by default: `single` for host envs that come one by one."""
    if hasattr(env, "most_envs"):
        return most_envs(env, batch)
    return single if isinstance(env, HostEnv) else batch
