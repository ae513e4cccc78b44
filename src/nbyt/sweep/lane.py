"""A lane: a process that trains, and whoever waits for it; it may hang or die and harm nobody.

They exchange lines of JSON. The waiting side imports no JAX: on a cluster it is one of many.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from nbyt.sweep.board import Board
from nbyt.train.keeper import Keeper

# A step that hangs in Python is found by the env's own watchdog, which can say where, within a
# quarter more than the limit; this process comes after it.
_PATIENCE, _LAST_WORDS = 1.25, 1.0
# Not `-m`: processes of the env's own would import that module again, and JAX with it.
_MAIN = "from nbyt.sweep.lane_main import main; main()"


class Lane:
    """A process that does one errand at a time.

    setup: what it needs before the first (`lane_main`), with the limit of a step in seconds.
    heard: what it said last of how far it is.
    """

    def __init__(self, keeper: Keeper, setup: dict[str, Any]) -> None:
        self._keeper, self._step_limit = keeper, float(setup["step_limit"])
        with tempfile.TemporaryFile() as file:
            self._board = Board(file)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _MAIN, str(file.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(file.fileno(),),
                env=_environment(setup),
                start_new_session=True,  # Ctrl-C is for the driver, and what it starts ends with it
            )
        keeper.keep(self._process.pid)
        os.set_blocking(self.fileno(), False)
        self._rest, self._over = b"", False
        self._code: int | None = None
        self.heard: dict[str, Any] = {}
        self._say(setup)

    def fileno(self) -> int:
        """Where its words come in; for those who wait for several lanes."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

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
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                with contextlib.suppress(OSError):  # it was gone before it had read everything
                    pipe.close()
            self._code = self._keeper.end(self._process)
        return self._code

    def _say(self, words: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it is gone; the next look finds that out
            self._process.stdin.write(json.dumps(words).encode() + b"\n")
            self._process.stdin.flush()

    def _lines(self) -> list[dict[str, Any]]:
        """What it has said since the last look."""
        assert self._process.stdout is not None
        chunk = self._process.stdout.read()
        self._over = chunk == b""
        *lines, self._rest = (self._rest + (chunk or b"")).split(b"\n")
        return [json.loads(line) for line in lines]


def decisive(name: str) -> bool:
    """Whether an environment variable may change numbers: a lane takes its driver's."""
    return name.startswith(("JAX_", "XLA_")) or name == "OMP_NUM_THREADS"


def _environment(setup: dict[str, Any]) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not decisive(name)}
    path = os.pathsep.join(filter(None, setup["path"]))
    # Several lanes may share a GPU, so none takes all of its memory.
    shared = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return {**own, **shared, **setup["environment"], "PYTHONPATH": path}
