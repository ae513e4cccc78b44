"""Envs that do what no env should, by name: `tests.faults.hostile_envs:step_segfault`.

`PLACE_DEED`: a place of `PLACES` and a deed of `DEEDS`; or one of `LIES`, an env that answers
wrongly. `make` is the env that NBYT_TEST_HOSTILE names. NBYT_TEST_IMPORT=DEED does it as soon as
this module is imported.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

PLACES = ("build", "reset", "step", "late", "close")
LENGTH = 10  # steps of an episode
LATE = 300  # steps, over all envs of a process, until the deeds of "late"
_done: dict[Any, int] = {"steps": 0}
_kept: list[Any] = []


class UnspeakableError(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise ValueError("no words")

    __repr__ = __str__


class UnsendableError(Exception):
    """An exception that no other process can be told."""

    def __reduce__(self) -> Any:
        raise TypeError("it stays here")


class Base(BaseException):
    """What `except Exception` does not catch."""


def _raise(error: BaseException) -> None:
    raise error


def _deadlock() -> None:
    """Wait in C code, with Python's lock held, where no signal and no thread can help."""
    mutex = ctypes.create_string_buffer(64)
    lock = ctypes.PyDLL(None).pthread_mutex_lock
    lock(mutex)
    lock(mutex)


def _recurse() -> None:
    _recurse()


def _print() -> None:
    """Print 4 MB, half of it behind Python's back."""
    for _ in range(32):
        print("x" * 2**16)  # noqa: T201
        os.write(1, b"y" * (2**16 - 1) + b"\n")


def _start_session() -> None:
    """Start a process that leaves the group and the session."""
    sleeps = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
    subprocess.Popen(sleeps, start_new_session=True)


def _daemon() -> None:
    """Start a process of nobody's: its parent is gone, and it has left group and session."""
    start = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
    sleeps = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
    subprocess.run([sys.executable, "-S", "-c", start, *sleeps], check=True)


def _fork_sleeper() -> None:
    if os.fork() == 0:
        time.sleep(600)


def _no_streams() -> None:
    sys.stdout = sys.stderr = None  # type: ignore[assignment]


def _deaf() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


# Ends, or raises what is an error of the env.
ENDS: dict[str, Callable[[], Any]] = {
    "raise": lambda: _raise(ZeroDivisionError("the user's own words")),
    "unspeakable": lambda: _raise(UnspeakableError()),
    "unsendable": lambda: _raise(UnsendableError("words")),
    "base": lambda: _raise(Base("words")),
    "sys_exit": lambda: sys.exit(5),
    "generator_exit": lambda: _raise(GeneratorExit()),
    "stop": lambda: _raise(StopIteration()),
    "memory_error": lambda: _raise(MemoryError()),
    "recursion": _recurse,
    "long_words": lambda: _raise(ValueError("x" * 10**6)),
}
# Ends the process.
KILLS: dict[str, Callable[[], Any]] = {
    "exit": lambda: os._exit(3),
    "segfault": lambda: ctypes.string_at(0),
    "abort": os.abort,
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "orphans": lambda: (_start_session(), os.kill(os.getpid(), signal.SIGKILL)),
}
HANGS: dict[str, Callable[[], Any]] = {"sleep": lambda: time.sleep(600), "deadlock": _deadlock}
# Is no error; must do no harm.
MISCHIEF: dict[str, Callable[[], Any]] = {
    "print": _print,
    "fork": os.fork,
    "fork_sleeper": _fork_sleeper,
    "session": _start_session,
    "daemon": _daemon,
    "thread": lambda: threading.Thread(target=time.sleep, args=(600,)).start(),
    "chdir": lambda: os.chdir("/"),
    "deaf": _deaf,
    "no_streams": _no_streams,
    "close_stdout": lambda: sys.stdout.close(),
    "close_std": lambda: [os.close(number) for number in (0, 1, 2)],
    "strict_warnings": lambda: warnings.simplefilter("error"),
    "strict_numpy": lambda: np.seterr(all="raise"),
    "grow": lambda: _kept.append(np.ones(2**17)),
}
CUTS: dict[str, Callable[[], Any]] = {"close_all": lambda: os.closerange(0, 1024)}
# Ctrl-C, as far as anybody can tell.
STOPS: dict[str, Callable[[], Any]] = {"interrupt": lambda: _raise(KeyboardInterrupt())}
DEEDS = {**ENDS, **KILLS, **HANGS, **MISCHIEF, **CUTS, **STOPS}


class Huge(Box):
    """A space that says it is huge, and has no memory of that."""

    def __init__(self) -> None:
        super().__init__(-1, 1, (2,), np.float32)
        self._shape = (10**12,)


_SEEN, _WIDE = np.zeros(2, np.float32), np.zeros(3, np.float32)
# What replaces the answer of `step`, or the spaces, or the answer of `reset`.
ANSWERS: dict[str, Callable[[tuple], Any]] = {
    "observation_none": lambda step: (None, *step[1:]),
    "observation_text": lambda step: ("here", *step[1:]),
    "observation_shape": lambda step: (_WIDE, *step[1:]),
    "observation_nan": lambda step: (_SEEN * np.nan, *step[1:]),
    "observation_complex": lambda step: (_SEEN * 1j, *step[1:]),
    "reward_none": lambda step: (step[0], None, *step[2:]),
    "reward_text": lambda step: (step[0], "one", *step[2:]),
    "reward_array": lambda step: (step[0], _SEEN, *step[2:]),
    "reward_nan": lambda step: (step[0], float("nan"), *step[2:]),
    "reward_inf": lambda step: (step[0], float("inf"), *step[2:]),
    "reward_big": lambda step: (step[0], 10**400, *step[2:]),
    "terminated_none": lambda step: (*step[:2], None, *step[3:]),
    "terminated_text": lambda step: (*step[:2], "no", *step[3:]),
    "terminated_array": lambda step: (*step[:2], _SEEN, *step[3:]),
    "info_none": lambda step: (*step[:4], None),
    "four_values": lambda step: step[:4],
    "no_answer": lambda step: None,
}
SPACES: dict[str, dict[str, Any]] = {
    "action_space_none": {"action_space": None},
    "observation_space_none": {"observation_space": None},
    "observation_space_dict": {"observation_space": Dict(x=Discrete(2))},
    "observation_space_huge": {"observation_space": Huge()},
    "observation_space_empty": {"observation_space": Box(-1, 1, (0,), np.float32)},
    "observation_count_huge": {"observation_space": Discrete(10**12)},
    "action_count_huge": {"action_space": Discrete(10**12)},
}
RESETS: dict[str, Any] = {"reset_none": None, "reset_bare": _SEEN, "reset_info_none": (_SEEN, None)}
LIES = (*ANSWERS, *SPACES, *RESETS, "spaces_change")


class Hostile(gymnasium.Env):
    """Ten steps of nothing, but for what its name says."""

    observation_space: Any = Box(-1, 1, (2,), np.float32)
    action_space: Any = Discrete(2)

    def __init__(self, name: str) -> None:
        self._name, self._time = name, 0
        for space, lie in SPACES.get(name, {}).items():
            setattr(self, space, lie)
        if name == "spaces_change":
            _kept.append(None)
            self.observation_space = Box(-1, 1, (2 + len(_kept) % 2,), np.float32)
        self._act("build")

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._time = 0
        self._act("reset")
        return RESETS.get(self._name, (_SEEN.copy(), {}))

    def step(self, action: Any) -> Any:
        if self._time == 3:
            self._act("step")
        _done["steps"] += 1
        if _done["steps"] > LATE:
            self._act("late")
        self._time += 1
        answer = (_SEEN.copy(), float(action), self._time >= LENGTH, False, {})
        return ANSWERS.get(self._name, tuple)(answer)

    def close(self) -> None:
        self._act("close")

    def _act(self, place: str) -> None:
        """Do the deed, once in a process, or every time."""
        where, _, deed = self._name.partition("_")
        if self._name in LIES or where != place or (place, deed) in _done:
            return
        if deed in MISCHIEF and deed != "grow":
            _done[place, deed] = 1
        DEEDS[deed]()


def __getattr__(name: str) -> Any:
    if name == "make":
        name = os.environ.get("NBYT_TEST_HOSTILE", "harmless")
    place, _, deed = name.partition("_")
    if name in LIES or (place in PLACES and deed in DEEDS) or name == "harmless":
        return partial(Hostile, name)
    raise AttributeError(name)


if "NBYT_TEST_IMPORT" in os.environ:
    DEEDS[os.environ["NBYT_TEST_IMPORT"]]()
