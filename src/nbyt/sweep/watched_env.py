"""A host env whose every call is written on a board."""

from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Space

from nbyt.envs.gymnasium_suite import GymnasiumEnv
from nbyt.envs.protocol import HostEnv, HostEnvs, HostStep
from nbyt.sweep.board import BUILT, CLOSE, RESET, STEP, Board


class WatchedEnv:
    """An env that has been found; all that it does is on the board.

    seconds: how long a step may take, for envs that watch themselves: they know more to say of a
    step that hangs in Python.
    """

    def __init__(self, env: HostEnv, board: Board, seconds: float) -> None:
        self._env, self._board, self._seconds = env, board, seconds

    @property
    def id(self) -> str:
        """The id that finds this env."""
        return self._env.id

    @property
    def observation_space(self) -> Space:
        """The space of one env's observations."""
        return self._asked("observation_space")

    @property
    def action_space(self) -> Space:
        """The space of one env's actions."""
        return self._asked("action_space")

    @property
    def time_limit(self) -> int | None:
        """The step at which an episode is truncated."""
        return self._asked("time_limit")

    @property
    def copyable(self) -> bool:
        """Whether the simulator's state can be saved and put back."""
        return self._asked("copyable")

    def start(self, envs: int, *, vector: str = "sync") -> HostEnvs:
        """N running environments."""
        loop = isinstance(self._env, GymnasiumEnv) and vector == "sync"
        # Envs in a loop are seen one by one; others are built who knows how.
        turns = 1 if loop else envs
        with self._board.calling(BUILT, turns=turns):
            return _WatchedEnvs(self._started(envs, vector), self._board, turns)

    def start_one(self) -> Env | None:
        """A single env; only how it is built is watched."""
        with self._board.calling(BUILT):
            return self._env.start_one()

    def _started(self, envs: int, vector: str) -> HostEnvs:
        if not isinstance(self._env, GymnasiumEnv):
            return self._env.start(envs, vector=vector)
        return self._env.start(
            envs, vector=vector, step_seconds=self._seconds, place=self._board.place
        )

    def _asked(self, name: str) -> Any:
        with self._board.calling(BUILT):  # the first question builds an env
            return getattr(self._env, name)


class _WatchedEnvs:
    """N running environments."""

    def __init__(self, running: HostEnvs, board: Board, turns: int) -> None:
        self.envs = running.envs
        self._running, self._board, self._turns, self._steps = running, board, turns, 0

    def reset(self, seeds: list[int]) -> np.ndarray:
        """The first observations."""
        self._steps = 0
        with self._board.calling(RESET):
            return self._running.reset(seeds)

    def step(self, action: np.ndarray) -> HostStep:
        """One step of every env."""
        with self._board.calling(STEP, step=self._steps):
            made = self._running.step(action)
        self._steps += 1
        return made

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """The observations, where the mask is set those of an episode just begun."""
        with self._board.calling(RESET, step=self._steps):
            return self._running.restart(mask, observation)

    def close(self) -> None:
        """Release processes and memory."""
        with self._board.calling(CLOSE, turns=self._turns, step=self._steps):
            self._running.close()
