"""Checks in a worker: whatever the env does to its process, the heartbeat knows in which call."""

import os
from collections.abc import Callable
from typing import Any

from nbyt.envs.user_code import TimeUpError, Watchdog, end_fork_of
from nbyt.envs.watched_env import WatchedEnv
from nbyt.errors import described
from nbyt.processes.heartbeat import CLOSE, RESET, STEP, Heartbeat, HeartbeatState


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
        """When envs are reset."""
        return getattr(self._env, "autoreset", "unknown")

    def start_one(self) -> Any:
        """A single env; None where the suite has no such thing."""
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
        """Whatever the env answers."""
        return self._call(RESET, lambda: self._env.reset(**options))

    def step(self, action: Any) -> Any:
        """Whatever the env answers."""
        answer = self._call(STEP, lambda: self._env.step(action))
        self._steps += 1
        return answer

    def close(self) -> None:
        """Close the env."""
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
