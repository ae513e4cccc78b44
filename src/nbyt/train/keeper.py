"""A keeper: a small process that ends all workers when their driver is gone, however it went.

A worker cannot be trusted with that: its env may hang in C code, where no thread of it runs, and
may have started processes of its own. So workers lead process groups, and the keeper, which does
nothing but wait for the end of a pipe, kills the groups that are left.
"""

import contextlib
import os
import signal
import subprocess
import sys
from types import TracebackType

# What the keeper runs. A line with a number adds a group, or takes out one that it knows; with "="
# before it, it adds a single process, which is killed only if no other has its number by then.
_PROGRAM = """
import os, signal, sys

def born(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[19]
    except OSError:
        return None

groups, single = set(), {}
for line in sys.stdin:
    number = int(line.strip("=\\n"))
    if line[0] == "=":
        single[number] = born(number)
    else:
        groups ^= {number}
for kill, numbers in (os.killpg, groups), (os.kill, [n for n in single if born(n) == single[n]]):
    for number in numbers:
        try:
            kill(number, signal.SIGKILL)
        except OSError:
            pass
"""


class Keeper:
    """A context in which process groups can be kept; none of them outlives this process."""

    def __init__(self) -> None:
        # A session of its own: Ctrl-C is for the driver. -I -S: it starts at once, and alone.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> "Keeper":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def keep(self, leader: int) -> None:
        """Nothing; the group that this process leads then ends with the driver."""
        self._tell(f"{leader}")

    def keep_one(self, process: int) -> None:
        """Nothing; this process then ends with the driver, if it has not before."""
        self._tell(f"={process}")

    def release(self, leader: int) -> None:
        """Nothing; the group, which was kept and is gone, is then forgotten."""
        self._tell(f"{leader}")

    def end(self, process: subprocess.Popen) -> int:
        """Its exit code; the process, which was kept, and all of its group are then gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        self.release(process.pid)
        return code

    def close(self) -> None:
        """Nothing; the groups that are left, and the keeper, are then gone."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()

    def _tell(self, words: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # somebody killed the keeper; the work goes on
            self._process.stdin.write(words.encode() + b"\n")
            self._process.stdin.flush()
