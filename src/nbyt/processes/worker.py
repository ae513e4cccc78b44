"""Worker processes that run envs, and may hang or die without harm to the parent.

They exchange lines of JSON; `serving` is the other side. The waiting side imports no JAX: on a
cluster it is one of many.
"""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import IO, Any

from nbyt.processes.heartbeat import Heartbeat, HeartbeatState
from nbyt.processes.reaper import ProcessReaper
from nbyt.system import MARK, own_group

# The exit code of a worker that can no longer reach its driver.
CUT_OFF = 74
Say = Callable[[dict[str, Any]], None]


def serve(begin: Callable[[dict[str, Any], Say], Callable[[dict[str, Any]], None]]) -> None:
    """Do tasks until no more come.

    begin: called with the setup and with what sends a line to the driver; returns what does a task
    and sends its answers.
    """
    tasks, answers = _pipes()

    def say(words: dict[str, Any]) -> None:
        answers.write(json.dumps(words).encode() + b"\n")
        answers.flush()

    do = begin(json.loads(tasks.readline()), say)
    try:
        with tasks, answers:
            for line in tasks:
                do(json.loads(line))
    except BrokenPipeError:  # nobody listens any more
        os._exit(1)
    except OSError:  # the env has closed the pipe
        os._exit(CUT_OFF)


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return where tasks come from and answers go to; an env that reads or prints uses neither."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return tasks, answers


# A step that hangs in Python is found by the env's own watchdog, which can say where, within a
# quarter more than the limit; this process comes after it.
_PATIENCE, _LAST_WORDS = 1.25, 1.0
# Seconds between two looks at limits.
_PAUSE = 0.2
# Not `-m`: processes of the env's own would import that module again, and JAX with it. The
# heartbeat is joined before that import takes its seconds.
_MAIN = """
import importlib, sys
from nbyt.processes.heartbeat import Heartbeat
heartbeat = Heartbeat.joined(sys.argv[1])
importlib.import_module(sys.argv[2]).main(heartbeat)
"""


class Bell:
    """What a worker rings when it has said something; several workers may share one."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def ring(self) -> None:
        """Wake the waiting threads."""
        self._event.set()

    def wait(self, seconds: float) -> None:
        """Return when it is rung, or has been since the last call, or after so long."""
        self._event.wait(seconds)
        self._event.clear()


class WorkerProcess:
    """A process that does one task at a time.

    main: the module whose `main` it runs. setup: what that needs before the first task, with the
    limit of a step in seconds. bell: one for several workers, or else its own. heard: what it said
    last of how far it is.
    """

    def __init__(
        self, reaper: ProcessReaper, main: str, setup: dict[str, Any], bell: Bell | None = None
    ) -> None:
        self._reaper, self._step_limit = reaper, float(setup["step_limit"])
        self._heartbeat = Heartbeat.new()
        mark = secrets.token_hex(8)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _MAIN, str(self._heartbeat.path), main],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**_environment(setup), MARK: mark},
            **own_group(),  # Ctrl-C is for the driver, and what it starts ends with it
        )
        self._tree = reaper.keep(self._process.pid, mark)
        self._bell = bell or Bell()
        self._said: SimpleQueue[bytes | None] = SimpleQueue()
        # A thread, because Windows can neither wait for several pipes nor read without waiting.
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._over = False
        self._code: int | None = None
        self.heard: dict[str, Any] = {}
        self._say(setup)

    def wait(self, seconds: float) -> None:
        """Return when there may be something to look at, or after so long."""
        self._bell.wait(seconds)

    def give(self, task: dict[str, Any], limit: float | None = None) -> None:
        """Begin with a task. limit: seconds that it may take."""
        self.heard, self._limit = {}, limit
        self._began = self._since = time.monotonic()
        self._state = self._heartbeat.read()
        self._say(task)

    def finish(
        self,
        task: dict[str, Any],
        limit: float | None = None,
        meanwhile: Callable[[dict[str, Any]], None] = lambda heard: None,
    ) -> dict[str, Any]:
        """Do a task and return how it ended, as `look` says it.

        meanwhile: called with what was heard last, every now and then.
        """
        self.give(task, limit)
        while (answer := self.look()) is None:
            self.wait(_PAUSE)
            meanwhile(self.heard)
        return answer

    def look(self) -> dict[str, Any] | None:
        """Return how the task ended, or None while it is under way.

        Either `answers`, or why there are none, with the state of the heartbeat: `ended` with an
        exit code, `silent` or `overlong` with the limit that was passed, or `cut_off` where its
        end of the pipe was closed. The worker is over then.
        """
        gone = self._tree.ended()
        if gone:  # what it has started may hold the pipe open, so its end is not waited for
            self._listener.join(_LAST_WORDS)
        for said in self._lines():
            if "answers" in said:
                return said
            self.heard = said
        now, state = time.monotonic(), self._heartbeat.read()
        if gone:
            return _ended(self.end(), state)
        if self._over:
            return self._out_of_reach(state)
        if state != self._state:
            self._state, self._since = state, now
        allowed = _PATIENCE * self._step_limit * state.turns + _LAST_WORDS
        if state.doing and now - self._since > allowed:
            self.end()
            return {"silent": self._step_limit * state.turns, "state": state}
        if self._limit is not None and now - self._began > self._limit:
            self.end()
            return {"overlong": self._limit, "state": state}
        return None

    def end(self) -> int:
        """End the process and all that it started, and return its exit code."""
        if self._code is None:
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):  # it was gone before it had read everything
                self._process.stdin.close()
            self._code = self._reaper.end(self._process)
            self._listener.join(_LAST_WORDS)
            self._heartbeat.remove()
        return self._code

    def _out_of_reach(self, state: HeartbeatState) -> dict[str, Any]:
        waited = time.monotonic() + _LAST_WORDS
        while not (gone := self._tree.ended()) and time.monotonic() < waited:
            time.sleep(0.01)  # the pipe closes a moment before the process is gone
        code = self.end()
        return _ended(code if gone else CUT_OFF, state)

    def _say(self, words: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it is gone; the next look finds that out
            self._process.stdin.write(json.dumps(words).encode() + b"\n")
            self._process.stdin.flush()

    def _lines(self) -> Iterator[dict[str, Any]]:
        while not self._over and not self._said.empty():
            line = self._said.get()
            if line is None:
                self._over = True
            else:
                yield json.loads(line)

    def _listen(self) -> None:
        """Pass on every whole line that the process says, then None."""
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            for line in pipe:
                if line.endswith(b"\n"):  # otherwise it was killed in the middle of a word
                    self._said.put(line)
                    self._bell.ring()
        self._said.put(None)
        self._bell.ring()


def _ended(code: int, state: HeartbeatState) -> dict[str, Any]:
    return {"cut_off": True, "state": state} if code == CUT_OFF else {"ended": code, "state": state}


def decisive(name: str) -> bool:
    """Return True if an environment variable may change numbers: a worker takes its driver's."""
    return name.startswith(("JAX_", "XLA_")) or name == "OMP_NUM_THREADS"


def basic_setup(path: list[str], step_limit: float) -> dict[str, Any]:
    """Return what every worker needs to compute as this process does."""
    return {
        "path": path,
        "environment": {name: os.environ[name] for name in os.environ if decisive(name)},
        "step_limit": step_limit,
    }


def _environment(setup: dict[str, Any]) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not decisive(name)}
    path = os.pathsep.join(filter(None, setup["path"]))
    # Several workers may share a GPU, so none takes all of its memory.
    shared = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return {**own, **shared, **setup["environment"], "PYTHONPATH": path}
