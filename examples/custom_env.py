"""An environment of your own in one file, and how to ask for advice on it.

Run this file, or give the env on the command line, from the folder of this file:

    nbyt advise custom_env:make_env --batch 1024
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit


class Buoy(gymnasium.Env[np.ndarray, np.int64]):
    """A buoy that should float at depth 0: choose its lift, against waves that push at random."""

    observation_space = spaces.Box(-10.0, 10.0, (2,), np.float32)
    action_space: spaces.Discrete[np.int64] = spaces.Discrete(3)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """A random depth and speed."""
        super().reset(seed=seed)
        self._state = self.np_random.uniform(-2.0, 2.0, 2)
        return self._state.astype(np.float32), {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Lift down, none or up; the reward is higher the nearer to depth 0."""
        depth, speed = self._state
        wave = self.np_random.normal(0.0, 0.3)
        speed = 0.95 * speed + 0.2 * (action - 1) + 0.1 * wave - 0.02 * depth
        depth = float(np.clip(depth + 0.1 * speed, -10.0, 10.0))
        self._state = np.array([depth, speed])
        lost = abs(depth) > 5.0
        reward = -10.0 if lost else 1.0 - min(abs(depth), 1.0)
        return self._state.astype(np.float32), reward, lost, False, {}


def make_env() -> gymnasium.Env[np.ndarray, np.int64]:
    """What nbyt calls: a function without arguments that makes one environment."""
    return TimeLimit(Buoy(), 200)


if __name__ == "__main__":
    import nbyt

    advice = nbyt.advise(make_env, batch=1024, effort="quick")
    print(advice)
    print(advice.report)
