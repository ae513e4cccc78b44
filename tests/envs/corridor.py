"""A deterministic corridor whose every transition can be written down by hand.

Cells 0 to 4, start in 1, actions left (0) and right (1), walls at the left. Entering cell 4 pays 1
and terminates; each other step pays -0.1 x the new cell, so that rewards tell steps apart. A time
limit of 7 truncates.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import TimeLimit, TransformAction, TransformObservation

CELLS = 5
LIMIT = 7


class Corridor(gymnasium.Env):
    """The corridor, seen as a cell number or, with box=True, as (cell / 4, steps so far)."""

    def __init__(self, box: bool = False) -> None:
        self.box = box
        self.action_space = Discrete(2)
        high = np.array([1.0, np.inf], np.float32)
        self.observation_space = Box(-high, high) if box else Discrete(CELLS)
        self.cell, self.steps = 1, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        self.cell, self.steps = 1, 0
        return self.observe(), {}

    def step(self, action):
        self.cell = max(0, self.cell + (1 if action == 1 else -1))
        self.steps += 1
        reached = self.cell == CELLS - 1
        return self.observe(), 1.0 if reached else -0.1 * self.cell, reached, False, {}

    def observe(self):
        if self.box:
            return np.array([self.cell / 4, self.steps], np.float32)
        return self.cell


def make() -> gymnasium.Env:
    """The corridor with cell numbers and its time limit."""
    return TimeLimit(Corridor(), LIMIT)


def make_box() -> gymnasium.Env:
    """The corridor with vectors and its time limit."""
    return TimeLimit(Corridor(box=True), LIMIT)


def shifted() -> gymnasium.Env:
    """The corridor with cells 10 to 14 and actions -1 and 0."""
    env = TransformObservation(make(), lambda cell: cell + 10, Discrete(5, start=10))
    return TransformAction(env, lambda action: action + 1, Discrete(2, start=-1))


def raising() -> gymnasium.Env:
    """A corridor that raises on its fourth step."""

    class Raising(Corridor):
        def step(self, action):
            if self.steps == 3:
                raise ZeroDivisionError("the user's own words")
            return super().step(action)

    return Raising()


def sleeping() -> gymnasium.Env:
    """A corridor that never comes back from its fourth step."""
    import time

    class Sleeping(Corridor):
        def step(self, action):
            if self.steps == 3:
                time.sleep(1000)
            return super().step(action)

    return Sleeping()


def dying() -> gymnasium.Env:
    """A corridor whose process is killed on its fourth step."""
    import os
    import signal

    class Dying(Corridor):
        def step(self, action):
            if self.steps == 3:
                os.kill(os.getpid(), signal.SIGKILL)
            return super().step(action)

    return Dying()
