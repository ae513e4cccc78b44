"""A batched simulator in torch: N point masses on a table, stepped by one program.

It has the interface of Isaac-style simulators: reset() and step(actions) on tensors with N rows,
envs that reset by themselves, and time-outs in `extras`. Run this file, or give the simulator on
the command line, from the folder of this file:

    nbyt check-env point_masses:make_vec
    nbyt advise point_masses:make_vec --batch 65536
"""

import math
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor

LIMIT, SUBSTEPS, SECONDS = 200, 4, 0.05
EDGE, GOAL = 2.0, 0.05


class PointMasses:
    """N masses that should reach the middle of a table with little force, and not fall off it."""

    single_observation_space = spaces.Box(-np.inf, np.inf, (4,), np.float32)
    single_action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    max_episode_length = LIMIT

    def __init__(self, num_envs: int, device: str = "cpu") -> None:
        self.num_envs, self.device = num_envs, device
        self._generator = torch.Generator(device)
        self.place = torch.zeros(num_envs, 2, device=device)
        self.speed = torch.zeros(num_envs, 2, device=device)
        self.episode_length_buf = torch.zeros(num_envs, dtype=torch.long, device=device)

    def reset(self, seed: int | None = None) -> tuple[Tensor, dict[str, Any]]:
        """Put every mass at a random place."""
        if seed is not None:
            self._generator.manual_seed(seed)
        self._begin(torch.ones(self.num_envs, dtype=torch.bool, device=self.device))
        return self._seen(), {}

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor, Tensor, dict[str, Any]]:
        """Push every mass for one step; masses whose episode ended are already reset."""
        force = actions.clamp(-1.0, 1.0)
        for _ in range(SUBSTEPS):
            # Friction grows with speed, and the table is uneven.
            bumps = 0.1 * torch.sin(3.0 * math.pi * self.place)
            self.speed = self.speed + SECONDS / SUBSTEPS * (2.0 * force - 0.5 * self.speed - bumps)
            self.place = self.place + SECONDS / SUBSTEPS * self.speed
        self.episode_length_buf += 1
        distance = self.place.norm(dim=1)
        fallen = distance > EDGE
        time_outs = (self.episode_length_buf >= LIMIT) & ~fallen
        reward = 1.0 - distance - 0.01 * force.square().sum(1) + (distance < GOAL).float()
        reward = torch.where(fallen, -100.0, reward)
        extras: dict[str, Any] = {"time_outs": time_outs, "final_obs": None}
        ended = fallen | time_outs
        if ended.any():
            extras["final_obs"] = self._seen()
            self._begin(ended)
        return self._seen(), reward, ended, extras

    def _begin(self, mask: Tensor) -> None:
        drawn = torch.rand(self.num_envs, 2, generator=self._generator, device=self.device)
        self.place = torch.where(mask[:, None], 2.0 * drawn - 1.0, self.place)
        self.speed = torch.where(mask[:, None], 0.0, self.speed)
        self.episode_length_buf[mask] = 0

    def _seen(self) -> Tensor:
        return torch.cat([self.place, self.speed], dim=1)


def make_vec(num_envs: int) -> PointMasses:
    """What nbyt calls: a function with the parameter num_envs makes N envs at once."""
    return PointMasses(num_envs)


def make_thousand() -> PointMasses:
    """The same where N is no choice: a function without num_envs is called once."""
    return PointMasses(1000)


if __name__ == "__main__":
    import nbyt

    advice = nbyt.advise(make_vec, batch=65_536, effort="quick")
    print(advice)
    print(advice.report)
