"""A host env whose every call is recorded in a heartbeat."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Space

from nbyt.envs.gymnasium_suite import GymnasiumEnv
from nbyt.envs.protocol import HostEnv, HostEnvs, HostStep
from nbyt.envs.user_code import TimeUpError, Watchdog, end_fork_of
from nbyt.errors import described
from nbyt.processes.heartbeat import BUILT, CLOSE, RESET, STEP, Heartbeat, HeartbeatState


class WatchedEnv:
    """An env that has been found; all that it does is in the heartbeat.

    seconds: how long a step may take, for envs that watch themselves: they know more to say of a
    step that hangs in Python.
    """

    def __init__(self, env: HostEnv, heartbeat: Heartbeat, seconds: float) -> None:
        self._env, self._heartbeat, self._seconds = env, heartbeat, seconds

    @property
    def id(self) -> str:
        """Return the id that finds this env."""
        return self._env.id

    @property
    def observation_space(self) -> Space:
        """Return the space of one env's observations."""
        return self._asked("observation_space")

    @property
    def action_space(self) -> Space:
        """Return the space of one env's actions."""
        return self._asked("action_space")

    @property
    def time_limit(self) -> int | None:
        """Return the step at which an episode is truncated."""
        return self._asked("time_limit")

    @property
    def copyable(self) -> bool:
        """Return True if the simulator's state can be saved and put back."""
        return self._asked("copyable")

    @property
    def most_envs(self) -> int:
        """Return the most envs that a layout can have."""
        return self._asked("most_envs") if hasattr(type(self._env), "most_envs") else 2**31

    def start(self, envs: int, *, vector: str = "sync") -> HostEnvs:
        """Start N envs."""
        loop = isinstance(self._env, GymnasiumEnv) and vector == "sync"
        # Envs in a loop are seen one by one; others are built who knows how.
        turns = 1 if loop else envs
        with self._heartbeat.calling(BUILT, turns=turns):
            return _WatchedEnvs(self._started(envs, vector), self._heartbeat, turns)

    def start_one(self) -> Env | None:
        """Build a single env; only its construction is recorded."""
        with self._heartbeat.calling(BUILT):
            return self._env.start_one()

    def _started(self, envs: int, vector: str) -> HostEnvs:
        if not isinstance(self._env, GymnasiumEnv):
            return self._env.start(envs, vector=vector)
        return self._env.start(
            envs, vector=vector, step_seconds=self._seconds, place=self._heartbeat.place
        )

    def _asked(self, name: str) -> Any:
        with self._heartbeat.calling(BUILT):  # the first question builds an env
            return getattr(self._env, name)


class _WatchedEnvs:
    """N running environments."""

    def __init__(self, running: HostEnvs, heartbeat: Heartbeat, turns: int) -> None:
        self.envs = running.envs
        self.restarts = getattr(running, "restarts", True)
        self._running, self._heartbeat, self._turns, self._steps = running, heartbeat, turns, 0

    def reset(self, seeds: list[int]) -> np.ndarray:
        self._steps = 0
        with self._heartbeat.calling(RESET):
            return self._running.reset(seeds)

    def step(self, action: np.ndarray) -> HostStep:
        with self._heartbeat.calling(STEP, step=self._steps):
            made = self._running.step(action)
        self._steps += 1
        return made

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        with self._heartbeat.calling(RESET, step=self._steps):
            return self._running.restart(mask, observation)

    def spread(self, counts: np.ndarray) -> None:
        with self._heartbeat.calling(RESET, step=self._steps):
            self._running.spread(counts)  # type: ignore[attr-defined]

    def close(self) -> None:
        with self._heartbeat.calling(CLOSE, turns=self._turns, step=self._steps):
            self._running.close()


class StoppedError(TimeUpError):
    """The env ended the check: it hung, or raised what only Ctrl-C raises otherwise.

    raised: its exception in words, "" where it hung. state: of the heartbeat at that moment.
    """

    def __init__(self, raised: str, state: HeartbeatState) -> None:
        super().__init__(raised)
        self.raised, self.state = raised, state


class CheckedEnv(WatchedEnv):
    """A host env to be checked; what a single env does is in the heartbeat too."""

    @property
    def autoreset(self) -> str:
        """Say when envs are reset."""
        return getattr(self._env, "autoreset", "unknown")

    @property
    def speeds(self) -> tuple[int, ...] | None:
        """Return the numbers of envs whose speed is worth knowing; None for the usual ones."""
        return getattr(self._env, "speeds", None)

    @property
    def notes(self) -> list[str]:
        """List what a user should know of the env."""
        return getattr(self._env, "notes", [])

    def start_one(self) -> Any:
        """Build a single env; return None where the suite has none."""
        one = super().start_one()
        return None if one is None else _CheckedOne(one, self._heartbeat, self._seconds)


class _CheckedOne:
    """A single env whose calls are in the heartbeat and have a time limit."""

    def __init__(self, env: Any, heartbeat: Heartbeat, seconds: float) -> None:
        self._env, self._heartbeat, self._steps = env, heartbeat, 0
        self._process = os.getpid()
        self._watchdog = Watchdog(seconds, lambda: heartbeat.read().calls)
        self.observation_space = getattr(env, "observation_space", None)
        self.action_space = getattr(env, "action_space", None)

    def reset(self, **options: Any) -> Any:
        return self._call(RESET, lambda: self._env.reset(**options))

    def step(self, action: Any) -> Any:
        answer = self._call(STEP, lambda: self._env.step(action))
        self._steps += 1
        return answer

    def close(self) -> None:
        self._call(CLOSE, self._env.close)

    def _call(self, doing: int, call: Callable[[], Any]) -> Any:
        with self._heartbeat.calling(doing, step=self._steps):
            try:
                with self._watchdog:
                    return call()
            except TimeUpError as error:
                raise StoppedError("", self._heartbeat.read()) from error
            except KeyboardInterrupt as error:
                raise StoppedError(described(error), self._heartbeat.read()) from error
            finally:
                end_fork_of(self._process)
