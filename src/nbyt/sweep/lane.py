"""A lane: a process that trains, and whoever waits for it; it may hang or die and harm nobody.

They exchange lines of JSON. The waiting side imports no JAX: on a cluster it is one of many.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

from nbyt.sweep.board import Board
from nbyt.system import own_group
from nbyt.train.keeper import Keeper

# A step that hangs in Python is found by the env's own watchdog, which can say where, within a
# quarter more than the limit; this process comes after it.
_PATIENCE, _LAST_WORDS = 1.25, 1.0
# Not `-m`: processes of the env's own would import that module again, and JAX with it. The board is
# joined before that import takes its seconds.
_MAIN = """
import sys
from nbyt.sweep.board import Board
board = Board.joined(sys.argv[1])
from nbyt.sweep.lane_main import main
main(board)
"""


class Bell:
    """What a lane rings when it has said something; several lanes may share one."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def ring(self) -> None:
        """Wake whoever waits."""
        self._event.set()

    def wait(self, seconds: float) -> None:
        """Return when it is rung, or has been since the last call, or after so long."""
        self._event.wait(seconds)
        self._event.clear()


class Lane:
    """A process that does one errand at a time.

    setup: what it needs before the first (`lane_main`), with the limit of a step in seconds.
    bell: one for several lanes, or else its own. heard: what it said last of how far it is.
    """

    def __init__(self, keeper: Keeper, setup: dict[str, Any], bell: Bell | None = None) -> None:
        self._keeper, self._step_limit = keeper, float(setup["step_limit"])
        self._board = Board.new()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _MAIN, str(self._board.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(setup),
            **own_group(),  # Ctrl-C is for the driver, and what it starts ends with it
        )
        keeper.keep(self._process.pid)
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

    def give(self, errand: dict[str, Any], limit: float | None = None) -> None:
        """Nothing; the errand is then under way. limit: seconds that it may take."""
        self.heard, self._limit = {}, limit
        self._began = self._since = time.monotonic()
        self._sight = self._board.read()
        self._say(errand)

    def look(self) -> dict[str, Any] | None:
        """How the errand ended, or None while it is under way.

        Either `answers`, or why there are none: `ended` with an exit code, `silent` or `overlong`
        with the limit that was passed, and what was on the board. The lane is over then.
        """
        for said in self._lines():
            if "answers" in said:
                return said
            self.heard = said
        now, sight = time.monotonic(), self._board.read()
        if self._over:
            return {"ended": self.end(), "sight": sight}
        if sight != self._sight:
            self._sight, self._since = sight, now
        allowed = _PATIENCE * self._step_limit * sight.turns + _LAST_WORDS
        if sight.doing and now - self._since > allowed:
            self.end()
            return {"silent": self._step_limit * sight.turns, "sight": sight}
        if self._limit is not None and now - self._began > self._limit:
            self.end()
            return {"overlong": self._limit, "sight": sight}
        return None

    def end(self) -> int:
        """Its exit code; the process and all that it started are then gone."""
        if self._code is None:
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):  # it was gone before it had read everything
                self._process.stdin.close()
            self._code = self._keeper.end(self._process)
            self._listener.join(_LAST_WORDS)
            self._board.remove()
        return self._code

    def _say(self, words: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it is gone; the next look finds that out
            self._process.stdin.write(json.dumps(words).encode() + b"\n")
            self._process.stdin.flush()

    def _lines(self) -> Iterator[dict[str, Any]]:
        """What it has said since the last look."""
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


def decisive(name: str) -> bool:
    """Whether an environment variable may change numbers: a lane takes its driver's."""
    return name.startswith(("JAX_", "XLA_")) or name == "OMP_NUM_THREADS"


def _environment(setup: dict[str, Any]) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not decisive(name)}
    path = os.pathsep.join(filter(None, setup["path"]))
    # Several lanes may share a GPU, so none takes all of its memory.
    shared = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return {**own, **shared, **setup["environment"], "PYTHONPATH": path}
