"""Small envs, and small models that act in them."""

import warnings
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from stable_baselines3 import PPO


def made(name: str, limit: int | None = None, **options: Any) -> gymnasium.Env:
    return gymnasium.make(name, max_episode_steps=limit, **options)


def model_in(venv: Any, policy: str = "MlpPolicy") -> PPO:
    small = {"net_arch": [2]}
    if policy == "CnnPolicy":
        small["features_extractor_kwargs"] = {"features_dim": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PPO(policy, venv, n_steps=2, batch_size=2, policy_kwargs=small, device="cpu")


class Picture(gymnasium.Env):
    """Random pictures [36, 36, 1]; every sixth step dies."""

    observation_space = Box(0, 255, (36, 36, 1), np.uint8)
    action_space = Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None):
        super().reset(seed=seed)
        self.steps = 0
        return self._picture(), {}

    def step(self, action):
        self.steps += 1
        return self._picture(), float(action), self.steps == 6, False, {}

    def _picture(self) -> np.ndarray:
        return self.np_random.integers(0, 256, (36, 36, 1), np.uint8)


class Parts(gymnasium.Env):
    """Observations in parts of every kind; every fifth step is cut."""

    def __init__(self) -> None:
        self.observation_space = Dict(
            {
                "arm": Box(-9, 9, (2, 3), np.float64),
                "door": Discrete(4),
                "levers": MultiDiscrete([2, 5]),
                "eye": Box(0, 255, (3, 36, 36), np.uint8),
            }
        )
        self.action_space = Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        self.steps += 1
        return self.observation_space.sample(), float(action.sum()), False, self.steps == 5, {}


class Stubborn(gymnasium.Env):
    """Keeps generators of its own and never seeds them."""

    observation_space = Box(0, 1, (1,), np.float64)
    action_space = Discrete(2, start=3)

    def __init__(self) -> None:
        self.inside = [np.random.default_rng(5)]
        self.actions: list[int] = []

    def reset(self, seed: int | None = None):
        return self._seen(), {}

    def step(self, action):
        self.actions.append(int(action))
        return self._seen(), 1.0, False, False, {}

    def _seen(self) -> np.ndarray:
        return self.inside[0].random(1)


class Sampled(gymnasium.Env):
    """Draws what it shows from a space of its class."""

    observation_space = Box(0, 1, (2,), np.float32)
    action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


class Locked(Stubborn):
    """Holds what no copy can be made of."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = (step for step in range(3))
