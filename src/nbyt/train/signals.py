"""Ctrl-C as a request: the first asks the run to save and stop, the second stops it at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass
class StopRequest:
    """Whether somebody has asked the run to stop.

    listen: call it now and then, because an env may take the signals for itself.
    """

    made: bool = False
    listen: Callable[[], None] = lambda: None


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """A request that SIGINT or SIGTERM sets; outside the main thread nothing sets it."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return

    def ask(number: int, frame: FrameType | None) -> None:
        request.made = True
        signal.signal(number, before[number])

    before = {int(number): signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def listen() -> None:
        for number in () if request.made else before:
            signal.signal(number, ask)

    request.listen = listen
    listen()
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
