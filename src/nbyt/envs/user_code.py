"""Code of the user's, imported only because the user wrote its name."""

import atexit
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from nbyt.errors import UsageError, described

# A time limit for code of this process that may hang, by an alarm of the operating system.
#
# It works where Python runs: in the main thread, on systems with SIGALRM, when nobody else uses
# that signal; elsewhere it does nothing. C code that never returns to Python is not interrupted:
# envs like that need processes of their own (`vector="async"`).
#
# The alarm ticks on between two steps, because setting it anew for each step costs as much as a
# step of a small env; it stops by itself when nothing was watched for a while.

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
        """Tick from now on, unless SIGALRM belongs to somebody else."""
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
        """Tick no more."""
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
    """What `package.module:name` names; the working directory is on the import path."""
    module, _, attribute = name.partition(":")
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
