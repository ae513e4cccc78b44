"""The corridor of `corridor`, N at once, as every kind of vector env that a user may have.

The batched ones share no line with the single one: arrays of cells and steps, reset where an
episode ended, by each of the rules that vector envs follow.
"""

from typing import Any

import corridor
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

END = corridor.CELLS - 1


class Cells:
    """N corridors: where each is and how many steps it has taken."""

    def __init__(self, envs: int) -> None:
        self.cell, self.steps = np.ones(envs, int), np.zeros(envs, int)

    def begin(self, mask: np.ndarray) -> None:
        self.cell[mask], self.steps[mask] = 1, 0

    def move(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Step all; rewards, which reached the end, which met the limit."""
        self.cell = np.maximum(0, self.cell + np.where(actions == 1, 1, -1))
        self.steps += 1
        reached = self.cell == END
        rewards = np.where(reached, 1.0, -0.1 * self.cell)
        return rewards, reached, self.steps >= corridor.LIMIT

    def seen(self) -> np.ndarray:
        return np.stack([self.cell / END, self.steps], axis=1).astype(np.float32)


class Corridors(VectorEnv):
    """N corridors as a Gymnasium vector env that is not made of single ones."""

    def __init__(self, num_envs: int, mode: AutoresetMode) -> None:
        self.num_envs, self.metadata = num_envs, {"autoreset_mode": mode}
        high = np.array([1.0, np.inf], np.float32)
        self.single_observation_space = Box(-high, high)
        self.single_action_space = Discrete(2)
        self.cells, self.mode = Cells(num_envs), mode
        self.ended = np.zeros(num_envs, bool)
        # Handed out again and again, as fast simulators do.
        self.buffer = np.zeros((num_envs, 2), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, bool))
        self.cells.begin(mask)
        self.ended = np.zeros(self.num_envs, bool)
        return self.look(), {}

    def step(self, actions):
        if self.mode is AutoresetMode.NEXT_STEP and self.ended.any():
            rewards, reached, cut = self.cells.move(actions)
            idle = self.ended
            self.cells.begin(idle)
            rewards, reached, cut = (np.where(idle, 0, x) for x in (rewards, reached, cut))
        else:
            rewards, reached, cut = self.cells.move(actions)
        reached, cut = reached.astype(bool), cut.astype(bool)
        self.ended = reached | cut
        info: dict[str, Any] = {}
        if self.mode is AutoresetMode.SAME_STEP and self.ended.any():
            info["final_obs"] = self.cells.seen()
            self.cells.begin(self.ended)
        return self.look(), rewards, reached, cut, info

    def look(self) -> np.ndarray:
        self.buffer[:] = self.cells.seen()
        return self.buffer


class Batched:
    """N corridors with Isaac's interface, on arrays of NumPy or torch.

    flags: 1 for dones with time-outs in extras, 2 for terminated and truncated apart. final: True
    if the last observations of episodes are handed out.
    """

    num_actions = 1
    max_episode_length = corridor.LIMIT

    def __init__(
        self, num_envs: int, *, torch: Any = None, flags: int = 1, final: bool = True, parts=False
    ) -> None:
        self.num_envs, self.flags, self.final, self.parts = num_envs, flags, final, parts
        self.single_action_space = Discrete(2)
        self.cells = Cells(num_envs)
        self.of = np.array if torch is None else lambda x: torch.tensor(np.array(x))
        self.is_torch = torch is not None

    def reset(self):
        self.cells.begin(np.ones(self.num_envs, bool))
        return self.look(), {}

    def step(self, actions):
        if self.is_torch:
            assert actions.dtype.is_floating_point is False
            actions = actions.numpy()
        rewards, reached, cut = self.cells.move(actions)
        ended, extras = reached | cut, {}
        if self.final and ended.any():
            extras["final_obs"] = self.look()
        self.cells.begin(ended)
        seen, rewards = self.look(), self.of(rewards.astype(np.float32))
        if self.flags == 2:
            return seen, rewards, self.of(reached), self.of(cut & ~reached), extras
        extras["time_outs"] = self.of(cut & ~reached)
        return seen, rewards, self.of(ended.astype(np.int64)), extras

    def look(self):
        seen = self.cells.seen()
        if not self.parts:
            return self.of(seen)
        return {"policy": self.of(seen), "critic": self.of(np.zeros((self.num_envs, 7)))}


class DictCorridor(corridor.Corridor):
    """A corridor whose observation is a dictionary of two parts."""

    def __init__(self) -> None:
        super().__init__(box=True)
        cell, steps = Box(0, 1, (1,), np.float32), Box(0, np.inf, (1,), np.float32)
        self.observation_space = Dict({"cell": cell, "steps": steps})

    def observe(self):
        cell, steps = super().observe()
        return {"cell": np.array([cell], np.float32), "steps": np.array([steps], np.float32)}


def make_dict():
    """The corridor with a dictionary and its time limit."""
    return corridor.TimeLimit(DictCorridor(), corridor.LIMIT)


def next_step(num_envs):
    return Corridors(num_envs, AutoresetMode.NEXT_STEP)


def same_step(num_envs):
    return Corridors(num_envs, AutoresetMode.SAME_STEP)


def disabled(num_envs):
    return Corridors(num_envs, AutoresetMode.DISABLED)


def named_mode(num_envs):
    """The mode as text, and Gymnasium's default where there is none."""
    made = Corridors(num_envs, AutoresetMode.NEXT_STEP)
    made.metadata = {}
    return made


def sync_of(make, mode):
    def factory(num_envs):
        return SyncVectorEnv([make] * num_envs, autoreset_mode=mode)

    return factory


def fixed():
    """Five corridors, and no choice."""
    return same_step(5)


def isaac(num_envs):
    return Batched(num_envs)


def isaac_five(num_envs):
    return Batched(num_envs, flags=2)


def isaac_torch(num_envs):
    import torch

    return Batched(num_envs, torch=torch)


def isaac_parts(num_envs):
    import torch

    return Batched(num_envs, torch=torch, flags=2, parts=True)


def isaac_no_final(num_envs):
    return Batched(num_envs, final=False)


def vec_env(num_envs):
    """N corridors in a VecEnv of Stable-Baselines3."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([corridor.make_box] * num_envs)


def monitored(num_envs):
    """The same inside a wrapper."""
    from stable_baselines3.common.vec_env import VecMonitor

    return VecMonitor(vec_env(num_envs))
