"""A time limit for code of this process that may hang, by an alarm of the operating system.

It works where Python runs: in the main thread, on systems with SIGALRM, when nobody else uses that
signal; elsewhere it does nothing. C code that never returns to Python is not interrupted: envs like
that need processes of their own (`vector="async"`).
"""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_TICKS = 4  # looks at the progress within one limit


class TimeUpError(BaseException):
    """No progress within the limit. Not an Exception, so that an env cannot swallow it."""


class Watchdog:
    """A context in which `progress()` must change at least every `seconds`, or TimeUpError comes.

    Asking for progress in the alarm, and not setting an alarm for each env, keeps the cost to two
    system calls however many envs a step has.
    """

    def __init__(self, seconds: float, progress: Callable[[], Any]) -> None:
        self.seconds = seconds
        self._progress = progress
        self._last: Any = None
        self._still = 0
        self._armed = False

    def __enter__(self) -> None:
        self._armed = _usable()
        if self._armed:
            self._last, self._still = None, 0
            _watching[0] = self
            tick = self.seconds / _TICKS
            signal.setitimer(signal.ITIMER_REAL, tick, tick)

    def __exit__(self, *_: Any) -> None:
        if self._armed:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def look(self) -> None:
        """Count another tick without progress; raise when there were too many."""
        now = self._progress()
        self._still = self._still + 1 if now == self._last else 1
        self._last = now
        if self._still > _TICKS:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise TimeUpError


_watching: list[Watchdog | None] = [None]


def _on_alarm(number: int, frame: FrameType | None) -> None:
    if _watching[0] is not None:
        _watching[0].look()


def _usable() -> bool:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not _MAIN:
        return False
    handler = signal.getsignal(signal.SIGALRM)
    if handler is signal.SIG_DFL:
        signal.signal(signal.SIGALRM, _on_alarm)
        return True
    return handler is _on_alarm


_MAIN = threading.main_thread()
