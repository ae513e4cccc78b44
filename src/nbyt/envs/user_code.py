"""Code of the user's: imported because the user wrote its name, called with a time limit.

Whatever it raises becomes an error of nbyt's that names the env.
"""

import atexit
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from types import FrameType, TracebackType
from typing import Any

from gymnasium import Env
from gymnasium.spaces import Space

from nbyt.envs.protocol import DeviceEnv, HostEnv, HostEnvs, Transition
from nbyt.errors import EnvError, EnvUsageError, UsageError, described

# The time limit is an alarm of the operating system. It works where Python runs: in the main
# thread, on systems with SIGALRM, when nobody else uses that signal; elsewhere it does nothing. C
# code that never returns to Python needs a process of its own (`vector="async"`).
#
# The alarm ticks on between two steps, because setting it anew for each step costs as much as a
# step of a small env; it stops by itself when nothing was watched for a while.

# What no compiled program could go on with; the rest is for check-env to tell.
_UNTRAINABLE = ("state_structure", "observation_shape", "reward_type")
_TICKS = 4  # looks at the progress within one limit


class TimeUpError(BaseException):
    """No progress within the limit. Not an Exception, so that an env cannot swallow it."""


class Watchdog:
    """A context in which `progress()` must change every `seconds`, or else TimeUpError comes."""

    def __init__(self, seconds: float, progress: Callable[[], Any]) -> None:
        self.seconds = seconds
        self.tick = seconds / _TICKS
        self._progress = progress
        self._last: Any = None
        self._still = 0

    def __enter__(self) -> None:
        if threading.get_ident() != _MAIN:
            return
        if _alarm.tick != self.tick:
            _alarm.start(self.tick)
        self._still = 0
        _alarm.watching = self

    def __exit__(self, *_: Any) -> None:
        if _alarm.watching is self:
            _alarm.watching = None

    def look(self) -> None:
        """Count another tick without progress; raise when there were too many."""
        now = self._progress()
        self._still = self._still + 1 if now == self._last else 1
        self._last = now
        if self._still > _TICKS:
            raise TimeUpError


class _Alarm:
    """The one ticking alarm of this process, and whom it serves now."""

    def __init__(self) -> None:
        self.tick: float | None = None  # None: the alarm is off
        self.watching: Watchdog | None = None
        self._idle = 0
        self._told = False

    def start(self, tick: float) -> None:
        if not (hasattr(signal, "setitimer") and hasattr(signal, "SIGALRM")):  # Windows
            return
        handler = signal.getsignal(signal.SIGALRM)
        if handler is signal.SIG_DFL:
            signal.signal(signal.SIGALRM, _on_alarm)
        elif handler is not _on_alarm:
            return
        if not self._told:
            # Python lets go of its handlers before it ends, and a tick would then end it.
            atexit.register(self.stop)
            self._told = True
        signal.setitimer(signal.ITIMER_REAL, tick, tick)
        self.tick, self._idle = tick, 0

    def stop(self) -> None:
        if self.tick is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.tick = None

    def ring(self) -> None:
        """Ask the one who is watching to look, or go off when nobody has been for a while."""
        if self.watching is not None:
            self._idle = 0
            self.watching.look()
            return
        self._idle += 1
        if self._idle > _TICKS:
            self.stop()


def _on_alarm(number: int, frame: FrameType | None) -> None:
    _alarm.ring()


_alarm = _Alarm()
_MAIN = threading.main_thread().ident


class calling_user_code:  # noqa: N801 (a context manager used as a word)
    """Make an error of nbyt's of whatever the user's code raises; only Ctrl-C passes.

    A process that the user's code has forked, and that comes out of it, ends here: it would
    otherwise train too, and write into the same files.
    """

    def __init__(self, error: Callable[[BaseException], Exception]) -> None:
        self._error, self._process = error, os.getpid()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        end_fork_of(self._process)
        if error is not None and not isinstance(error, KeyboardInterrupt):
            told = self._error(error)
            if told is not error:
                raise told from error


def end_fork_of(process: int) -> None:
    """End this process if it is not the one of that number, but forked from it by user code."""
    if os.getpid() != process:
        os._exit(0)


def imported(name: str, *, where: str, fix: str, error: type[UsageError] = UsageError) -> Any:
    """Import what `package.module:name` names; the working directory is on the import path."""
    module, _, attribute = name.partition(":")
    if module.endswith(".py"):
        dotted = ".".join(PurePath(module.removesuffix(".py")).parts)
        message = f"'{name}' names a file, where a module is wanted"
        raise error(message, where=where, fix=f"did you mean {dotted}:{attribute}? {fix}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)

    def refused(raised: BaseException) -> UsageError:
        return error(
            f"'{name}' cannot be imported: {described(raised)}",
            where=where,
            fix=f"{fix}; the working directory is on the import path",
        )

    with calling_user_code(refused):
        return getattr(importlib.import_module(module), attribute)


def _named(name: str, env: DeviceEnv | HostEnv) -> DeviceEnv | HostEnv:
    """Give a user's own env the id that the user typed.

    Its own `id` finds nothing. What is written into plans, stages and tasks for other processes
    must find the env again, and only the typed name does.
    """
    from nbyt.envs.gymnasium_suite import GymnasiumEnv
    from nbyt.envs.tabular import TabularEnv

    if isinstance(env, TabularEnv):  # stays one, because exact calculations need its tables
        return replace(env, id=name)
    if isinstance(env, GymnasiumEnv):
        return env.renamed(name)
    # Not isinstance of HostEnv: that would build an env to look at its properties.
    hosted = callable(getattr(env, "start", None))
    return NamedHostEnv(name, env) if hosted else NamedDeviceEnv(name, env)


@dataclass(frozen=True)
class _NamedEnv:
    id: str
    env: Any

    @property
    def observation_space(self) -> Space:
        return self.env.observation_space

    @property
    def action_space(self) -> Space:
        return self.env.action_space

    @property
    def time_limit(self) -> int | None:
        return self.env.time_limit


class NamedDeviceEnv(_NamedEnv):
    """A device env of the user's; what it raises while JAX traces it is an EnvError."""

    def reset(self, key: Any) -> tuple[Any, Any]:
        """Return a start state and its observation."""
        try:
            return self.env.reset(key)
        except Exception as error:
            raise self._raised(error, "reset") from error

    def step(self, key: Any, state: Any, action: Any) -> Transition:
        """Return the transition that `action` causes from `state`; no reset."""
        from nbyt.envs.check_device import step_faults

        try:
            stepped = self.env.step(key, state, action)
            faults = list(step_faults(state, stepped, self.observation_space))
        except Exception as error:
            raise self._raised(error, "step") from error
        for fault in faults:
            if fault.code in _UNTRAINABLE:
                raise self._failed(fault.message, "step")
        return Transition(*stepped)

    def _raised(self, error: Exception, doing: str) -> EnvError:
        return self._failed(f"it raised {described(error)}", doing)

    def _failed(self, what: str, doing: str) -> EnvError:
        message = f"env '{self.id}': {what}"
        fix = f"run `nbyt check-env {self.id}` to see all it breaks"
        return EnvError(message, where=f"in {doing}, while JAX traced it", fix=fix)


class NamedHostEnv(_NamedEnv):
    """A host env of the user's."""

    @property
    def copyable(self) -> bool:
        """Return True if the simulator's state can be saved and put back."""
        return self.env.copyable

    @property
    def autoreset(self) -> str:
        """Say when envs are reset."""
        return getattr(self.env, "autoreset", "unknown")

    def start(self, envs: int, *, vector: str = "sync") -> HostEnvs:
        """Start N envs."""
        return self.env.start(envs, vector=vector)

    def start_one(self) -> Env | None:
        """Build a single Gymnasium env, or return None where there is none."""
        return self.env.start_one()


def env_from(thing: Any, name: str = "") -> DeviceEnv | HostEnv:
    """Make the env that an object is or builds. name: what the user typed, which finds it again."""
    where = name or type(thing).__name__
    from nbyt.envs.vectors.factory import VectorFactory, takes_num_envs
    from nbyt.envs.vectors.kinds import is_vector

    if not isinstance(thing, type) and isinstance(thing, DeviceEnv | HostEnv):
        return _named(name, thing) if name else thing
    if not isinstance(thing, type) and is_vector(thing):
        return VectorFactory(where, lambda: thing, thing)
    if not callable(thing):
        message = f"'{where}' is not an environment nor a function that makes one"
        fix = (
            "name a function without arguments that returns a Gymnasium env, or one that takes "
            "num_envs and returns a vector env"
        )
        raise EnvUsageError(message, where="env", fix=fix)
    if takes_num_envs(thing):
        return VectorFactory(where, thing)
    from nbyt.envs import gymnasium_suite

    with calling_user_code(lambda error: _raised(where, error)):
        made = thing()
    if isinstance(made, DeviceEnv | HostEnv):
        return _named(name, made) if name else made
    if is_vector(made):
        return VectorFactory(where, thing, made)
    if not isinstance(made, Env):
        message = f"'{where}' returned {type(made).__name__}, not an environment"
        fix = (
            "return a gymnasium.Env, a vector env (num_envs, reset, step), or an object with "
            "nbyt's DeviceEnv protocol"
        )
        raise EnvUsageError(message, where="env", fix=fix)
    return gymnasium_suite.GymnasiumEnv(where, thing, made)


def _raised(where: str, error: BaseException) -> EnvUsageError:
    return EnvUsageError(
        f"'{where}' raised {described(error)}",
        where="env",
        fix="fix the factory; it is called without arguments, or with num_envs=N if it takes that",
    )
