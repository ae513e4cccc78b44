"""A corridor with traps: each file in a folder is a trap that springs once, in whoever meets it.

The file's name says where and how: step-raise, reset-sleep, build-kill and so on. Traps wait in
training processes only, so that the test's own process lives.
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import gymnasium
from gymnasium.wrappers import TimeLimit
from tests.envs.corridor import Corridor

FOLDER = "NBYT_TEST_TRAPS"
TRAINS = (
    "nbyt.sweeps.worker_main" in sys.argv
)  # of a worker; the module itself is imported by tests too
# Steps, over all envs of a process, that still have to be slow.
naps = int(os.environ.get("NBYT_TEST_NAPS", "0"))


class Crash(KeyboardInterrupt):
    """What nobody answers, not even as an error of the env: the driver goes down with it."""


def _deadlock() -> None:
    """Wait in C code, with Python's lock held, where no signal and no thread can help."""
    mutex = ctypes.create_string_buffer(64)
    wait = ctypes.PyDLL(None).pthread_mutex_lock
    wait(mutex)
    wait(mutex)


def _raise() -> None:
    raise ZeroDivisionError("the user's own words")


def _crash() -> None:
    raise Crash


WAYS = {
    "raise": _raise,
    "crash": _crash,
    "sleep": lambda: time.sleep(1000),
    "deadlock": _deadlock,
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: os._exit(3),
}


def spring(place: str, *, everywhere: bool = False) -> None:
    """Do what the trap at this place does, and remove it."""
    folder = os.environ.get(FOLDER)
    if not folder or not (TRAINS or everywhere):
        return
    for trap in sorted(Path(folder).glob(f"{place}-*")):
        try:
            trap.rename(trap.with_name(f"sprung-{trap.name}"))
        except FileNotFoundError:  # another process was faster
            continue
        WAYS[trap.name.rpartition("-")[2]]()


class Trapped(Corridor):
    """The corridor; traps wait in its constructor, its reset and the fourth step of an episode."""

    def __init__(self) -> None:
        spring("build")
        super().__init__()

    def reset(self, **options):
        spring("reset")
        return super().reset(**options)

    def step(self, action):
        global naps
        if self.steps == 3:
            spring("step")
            spring("here", everywhere=True)
        if naps and TRAINS:
            naps -= 1
            time.sleep(0.9)
        return super().step(action)


def make() -> gymnasium.Env:
    """The corridor with its time limit, and traps."""
    return TimeLimit(Trapped(), 7)
