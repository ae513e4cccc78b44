"""A reaper: a small process that ends all workers when their driver is gone, however it went.

A worker cannot be trusted with that: its env may hang in C code, where no thread of it runs, and
may have started processes of its own. So workers lead process groups and carry a mark that all they
start inherits, and the reaper, which does nothing but wait for the end of a pipe, kills the groups
and the marked processes that are left.
"""

import contextlib
import subprocess
import sys

from nbyt.system import ProcessTree, bare_python, own_group


class ProcessReaper:
    """A context in which process groups can be kept; none of them outlives this process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            bare_python("from nbyt.processes.reaper import main; main()"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            **own_group(),  # Ctrl-C is for the driver
        )
        self._kept: dict[int, ProcessTree] = {}

    def __enter__(self) -> "ProcessReaper":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def keep(self, leader: int, mark: str = "") -> ProcessTree:
        """End the group that this process leads together with the driver, and all with its mark."""
        self._kept[leader] = ProcessTree(leader, mark)
        self._tell(f"{leader} {mark}")
        return self._kept[leader]

    def keep_one(self, process: int) -> None:
        """End this process together with the driver, if it has not ended before."""
        self._tell(f"={process}")

    def release(self, leader: int) -> None:
        """Forget a group that was kept and is gone."""
        self._kept.pop(leader)
        self._tell(f"{leader}")

    def end(self, process: subprocess.Popen) -> int:
        """End a process that was kept, with all that it started; return its exit code."""
        self._kept[process.pid].kill()
        code = process.wait()
        self.release(process.pid)
        return code

    def close(self) -> None:
        """End the groups that are left, and the reaper."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()

    def _tell(self, words: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # somebody killed the reaper; the work goes on
            self._process.stdin.write(words.encode() + b"\n")
            self._process.stdin.flush()


def main() -> None:
    """Wait for the end of the driver, then kill what it has left; this is what the reaper runs.

    A line with a number and a mark adds a group, or takes out one that it knows; with "=" before
    it, it adds a single process.
    """
    groups: dict[int, ProcessTree] = {}
    single: list[ProcessTree] = []
    for line in sys.stdin:
        number, _, mark = line.strip("=\n").partition(" ")
        if line[0] == "=":
            single.append(ProcessTree(int(number)))
        elif groups.pop(int(number), None) is None:
            groups[int(number)] = ProcessTree(int(number), mark)
    for group in groups.values():
        group.kill()
    for process in single:
        process.kill_root()
