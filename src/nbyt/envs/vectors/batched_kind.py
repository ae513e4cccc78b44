"""An Isaac-style env: `reset()` and `step(actions)` on batches of tensors, resetting by itself.

`step` returns (observations, rewards, dones, extras), as Isaac Gym and rsl_rl have it, with
time-outs in extras["time_outs"]; or (observations, rewards, terminated, truncated, extras), as
Isaac Lab and ManiSkill do. Tensors stay on their device; observations, rewards and flags leave it
once a step, and final observations only where an episode was cut. Torch itself is not imported:
actions are made from the env's own tensors.
"""

import inspect
import sys
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Space

from nbyt.envs.protocol import HostStep
from nbyt.envs.vectors.observations import Packing, array, counted_from, seen_space, zero_based
from nbyt.errors import EnvUsageError

_FINAL = ("final_obs", "final_observation", "terminal_observation", "observations_before_reset")
_SEEDS = 2**31
_NO_FINAL = (
    "time-outs come without a final observation: the observation before the step stands for it, as "
    'in rsl_rl; hand it out as extras["final_obs"] for exact values'
)


class BatchedVector:
    """The rows of an Isaac-style env."""

    kind = "an Isaac-style batched env"
    autoreset = "same step"
    restarts = False

    def __init__(self, env: Any) -> None:
        self._env, self.envs = env, int(env.num_envs)
        first, self._like = self._begin(0)
        self._packing = Packing(_observed(env, first))
        self.observation_space = self._packing.space
        acted = _acted(env)
        self.action_space, self._first = zero_based(acted), counted_from(acted)
        self._is_choice = isinstance(acted, Discrete | MultiDiscrete)
        said = getattr(env, "max_episode_length", getattr(env, "max_episode_steps", None))
        self.limit = int(said) if said else None
        self.notes: list[str] = []
        self._before = self._packing.rows(first)
        self._valid = np.ones(self.envs, bool)
        self._valid.flags.writeable = False

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Reset all envs, with one seed for all."""
        seen, self._like = self._begin(seeds[0] % _SEEDS)
        self._before = self._packing.rows(seen)
        return self._before

    def step(self, action: np.ndarray) -> HostStep:
        """Take one action in every env."""
        seen, reward, *flags, extras = self._env.step(self._actions(action))
        rows = self._packing.rows(seen)
        terminated, truncated, ended = _ends(flags, extras)
        final = self._final(extras) if ended.any() else None
        self._before = rows
        return HostStep(rows, array(reward).copy(), terminated, truncated, self._valid, final)

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """Refuse: there is no common way."""
        raise NotImplementedError("single envs of an Isaac-style env cannot be reset")

    def spread(self, counts: np.ndarray) -> bool:
        """Set how far episodes are, where the env counts their steps in episode_length_buf."""
        counted = getattr(self._env, "episode_length_buf", None)
        if counted is None:
            return False
        counted.copy_(counted.new_tensor(counts))
        return True

    def close(self) -> None:
        close = getattr(self._env, "close", None)
        if callable(close):
            close()

    def _begin(self, seed: int) -> tuple[Any, Any]:
        """Return the first observations, and a tensor to make others like."""
        if "seed" in inspect.signature(self._env.reset).parameters:
            made = self._env.reset(seed=seed)
        else:
            # A simulator without a seed of its own draws from torch's generator.
            if (torch := sys.modules.get("torch")) is not None:
                torch.manual_seed(seed)
            made = self._env.reset()
        seen = made[0] if isinstance(made, tuple) else made
        leaf = seen
        while not hasattr(leaf, "shape") or hasattr(leaf, "keys"):
            leaf = next(iter(leaf.values()))
        return seen, leaf

    def _actions(self, action: np.ndarray) -> Any:
        given = action + self._first if self._is_choice else action
        if not hasattr(self._like, "new_tensor"):
            return given
        made = self._like.new_tensor(given)
        return made.long() if self._is_choice else made

    def _final(self, extras: Any) -> np.ndarray:
        """Return the last observations; those before the step where the env keeps them back."""
        for name in _FINAL:
            if extras is not None and name in extras and extras[name] is not None:
                return self._packing.rows(extras[name])
        if _NO_FINAL not in self.notes:
            self.notes.append(_NO_FINAL)
        return self._before


def _ends(flags: list[Any], extras: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which episodes terminated, which were truncated, and which ended at all."""
    first = array(flags[0]).astype(bool, copy=len(flags) > 1)
    if len(flags) > 1:
        truncated = array(flags[1]).astype(bool)
        return first, truncated, first | truncated
    outs = extras.get("time_outs") if hasattr(extras, "get") else None
    if outs is None:
        return first.copy(), np.zeros_like(first), first
    truncated = np.logical_and(array(outs), first)
    return first ^ truncated, truncated, first


def _observed(env: Any, first: Any) -> Space:
    for name in ("single_observation_space", "observation_space"):
        space = getattr(env, name, None)
        if isinstance(space, Space):
            return _of_one(space, int(env.num_envs), first)
    return seen_space(first)


def _of_one(space: Space, envs: int, first: Any) -> Space:
    """Return the space of one env, where the env's own may be that of all N together."""
    if isinstance(space, Dict):
        parts = {k: _of_one(one, envs, _part(first, k)) for k, one in space.spaces.items()}
        return Dict(parts)
    whole = tuple(getattr(first, "shape", ()))
    if isinstance(space, Box) and space.shape == whole and whole[:1] == (envs,):
        return Box(space.low[0], space.high[0], dtype=space.dtype)  # type: ignore[arg-type]
    return space


def _part(seen: Any, name: str) -> Any:
    return seen[name] if not hasattr(seen, "shape") or hasattr(seen, "keys") else seen


def _acted(env: Any) -> Space:
    for name in ("single_action_space", "action_space"):
        space = getattr(env, name, None)
        if isinstance(space, Space):
            is_whole = isinstance(space, Box) and space.shape[:1] == (env.num_envs,)
            if is_whole and isinstance(space, Box) and len(space.shape) > 1:
                return Box(space.low[0], space.high[0], dtype=space.dtype)  # type: ignore[arg-type]
            return space
    count = getattr(env, "num_actions", None)
    if count is None:
        raise EnvUsageError(
            "the env does not say what its actions are",
            where=type(env).__name__,
            fix="give it single_action_space, or num_actions for that many real numbers",
        )
    return Box(-np.inf, np.inf, (int(count),), np.float32)
