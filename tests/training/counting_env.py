"""Host environments that count the steps of all that were made of them."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box


class Counting(gymnasium.Env):
    """A point for every step; cut after `length` of them."""

    observation_space = Box(-1, 1, (2,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)
    length = 5
    made = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._time = 0
        return self.np_random.uniform(-1, 1, 2), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        type(self).made += 1
        self._time += 1
        return self.np_random.uniform(-1, 1, 2), 1.0, False, self._time >= self.length, {}


class Long(Counting):
    """Episodes that outlast a short training."""

    length = 200
    made = 0
