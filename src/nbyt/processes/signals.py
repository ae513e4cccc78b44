"""Ctrl-C and SIGTERM as requests: the first asks the run to save and stop, the second stops it.

SIGTERM comes from programs that do not ask twice, so what does not stop for the first is stopped.
"""

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

from nbyt.errors import RunInterruptedError

# Seconds from SIGTERM until the work is broken off, and from there until the process is ended.
_PATIENCE, _LAST_PATIENCE = 20.0, 20.0
_SOON = 0.1


class TerminatedError(KeyboardInterrupt):
    """SIGTERM came. Like Ctrl-C it is not an Exception, so that an env cannot swallow it."""


@dataclass(eq=False)
class StopRequest:
    """A request to stop the run.

    listen: call it now and then, because an env may take the signals for itself.
    """

    made: bool = False
    listen: Callable[[], None] = lambda: None


# Those that the main thread looks at now, the outermost first.
_requests: list[StopRequest] = []


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Let SIGTERM raise TerminatedError in the main thread.

    Where that does not end the process, because something hangs in C code, it ends a while later.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    owner, hook, ends = os.getpid(), sys.unraisablehook, list[threading.Timer]()

    def answer(number: int, frame: FrameType | None) -> None:
        _die_if_copied(owner)
        if not ends:
            ends.append(_later(_LAST_PATIENCE, partial(os._exit, RunInterruptedError.exit_code)))
        raise TerminatedError

    before = signal.signal(signal.SIGTERM, answer)
    sys.unraisablehook = partial(_again_if_lost, hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGTERM, before)
        for end in ends:
            end.cancel()


@contextmanager
def stop_on_signal(patience: float = _PATIENCE) -> Iterator[StopRequest]:
    """Return a request that SIGINT or SIGTERM sets; outside the main thread nothing sets it.

    patience: seconds that SIGTERM waits for the request to be answered.
    """
    if threading.current_thread() is not threading.main_thread():
        yield StopRequest()
        return
    request = StopRequest()
    if _requests:  # who came first listens for all
        request = StopRequest(_requests[0].made, _requests[0].listen)
    _requests.append(request)
    try:
        if len(_requests) > 1:
            yield request
        else:
            with _listening(request, patience):
                yield request
    finally:
        _requests.remove(request)


@contextmanager
def _listening(first: StopRequest, patience: float) -> Iterator[None]:
    """Let the first signal make all requests; the second finds the handlers from before."""
    owner, again = os.getpid(), list[threading.Timer]()
    before = {int(number): signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            _die_if_copied(owner)
            again.append(_later(patience, _send_sigterm))
        for request in _requests:
            request.made = True
        signal.signal(number, before[number])

    def listen() -> None:
        for number in () if first.made else before:
            signal.signal(number, ask)

    first.listen = listen
    listen()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for timer in again:
            timer.cancel()


def _die_if_copied(owner: int) -> None:
    """End a process that was forked from ours and inherited our handlers."""
    if os.getpid() != owner:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


def _again_if_lost(hook: Callable[[Any], Any], lost: Any) -> None:
    """Interrupt again where the exception was lost, as in the garbage collector's callbacks."""
    if issubclass(lost.exc_type, TerminatedError):
        _later(_SOON, _send_sigterm)
    elif issubclass(lost.exc_type, KeyboardInterrupt):
        _later(_SOON, _thread.interrupt_main)
    else:
        hook(lost)


def _send_sigterm() -> None:
    """Send SIGTERM to the main thread, which wakes up if it sleeps."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGTERM)
    else:
        signal.raise_signal(signal.SIGTERM)


def _later(seconds: float, call: Callable[[], Any]) -> threading.Timer:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer
