"""Host environments with unusual spaces."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, MultiDiscrete


class Dials(gymnasium.Env):
    """Two dials; one point a step for setting the second to 2. Cut after 20 steps."""

    observation_space = Box(-1, 1, (3,), np.float64)
    action_space = MultiDiscrete([2, 3])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._time = 0
        return self.np_random.uniform(-1, 1, 3), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        self._time += 1
        return self.np_random.uniform(-1, 1, 3), float(action[1] == 2), False, self._time >= 20, {}


class Pictures(gymnasium.Env):
    """A bright or a dark picture, channels first, bytes; one point for naming it.

    It is the smallest that gets the network for large pictures: others only take longer.
    """

    observation_space = Box(0, 255, (4, 36, 36), np.uint8)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        return self._next(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        right = float(action == self._bright)
        return self._next(), right, bool(self.np_random.random() < 0.2), False, {}

    def _next(self) -> np.ndarray:
        self._bright = int(self.np_random.integers(2))
        return np.full((4, 36, 36), 200 * self._bright, np.uint8)
