"""What the operating system knows and does: cores, instructions, memory, process trees.

The only file that imports psutil, and the only one that asks which of these an operating system
has. See docs/platforms.md.
"""

import contextlib
import math
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_CPUINFO = Path("/proc/cpuinfo")
# The environment variable that tells what a worker has started, wherever it is now.
MARK = "NBYT_WORKER"
_ROUNDS, _LAST_MOMENT = 5, 1.0


def usable_cores(cgroups: Path = _CGROUPS, membership: Path = _MEMBERSHIP) -> int:
    """Count the cores that this process may use, at least 1.

    Its affinity mask counts, and on Linux the CPU quota of its cgroup: a container that was given
    1.5 CPUs of 64 has 2. cgroups, membership: where Linux shows the limits, and whose are ours.
    """
    quota = min(map(_quota, _own_cgroups(cgroups, membership)), default=math.inf)
    return max(1, math.ceil(min(_affinity(), quota)))


def instruction_sets(cpuinfo: Path = _CPUINFO) -> str:
    """Name the architecture and the instruction sets of this CPU.

    Linux lists all of them; elsewhere NumPy lists those that matter for numbers.
    """
    listed = re.search(r"^(?:flags|Features)\s*:(.*)$", _text(cpuinfo), re.MULTILINE)
    if listed:
        return f"{platform.machine()} {listed[1].split()}"
    import numpy as np  # what starts at once does not wait for it

    return f"{platform.machine()} {np.show_config(mode='dicts')['SIMD Extensions']}"


def resident_bytes() -> int:
    """Measure the memory that this process has now."""
    return psutil.Process().memory_info().rss


def descendants(pid: int) -> list[int]:
    """List the processes that this one has started, and those that they have."""
    try:
        return [one.pid for one in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


def own_group() -> dict[str, Any]:
    """Make the arguments of `subprocess.Popen` that put the process at the head of its own group.

    Ctrl-C is then for the parent alone, and what the process starts can be ended with it.
    """
    if hasattr(os, "setsid"):
        return {"start_new_session": True}
    return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}


def bare_python(statement: str) -> list[str]:
    """Make the command of an interpreter that starts at once and alone, to run `statement`.

    It sees no environment variables, no current folder and no site hooks.
    """
    folders = [str(Path(file).parents[1]) for file in (__file__, psutil.__file__)]
    code = f"import sys; sys.path += sys.argv[1:]; {statement}"
    return [sys.executable, "-I", "-S", "-c", code, *folders]


class ProcessTree:
    """A process that runs now, with all that it starts; never another that has its number later.

    mark: the value of the environment variable `MARK` that the process was started with, if it was.
    """

    def __init__(self, pid: int, mark: str = "") -> None:
        self._pid, self._mark = pid, mark
        try:
            self._root: psutil.Process | None = psutil.Process(pid)
        except psutil.Error:  # it has just gone
            self._root = None

    def kill(self) -> None:
        """Kill the group that the process leads, if it does, the process and its descendants.

        The group finds children whose parent has gone, the tree those that left the group, and the
        mark those that did both: a process in a new session whose parent has gone.
        """
        members = self._members()
        if hasattr(os, "killpg"):
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)
        for one in members:
            with contextlib.suppress(psutil.Error):
                one.kill()
        self._kill_marked()

    def ended(self) -> bool:
        """Tell whether the process is over, even if nobody has waited for it yet."""
        if self._root is None:
            return True
        try:
            return not self._root.is_running() or self._root.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True

    def kill_root(self) -> None:
        """Kill the process alone."""
        if self._root is not None:
            with contextlib.suppress(psutil.Error):
                self._root.kill()

    def _members(self) -> list[psutil.Process]:
        if self._root is None:
            return []
        try:
            return [self._root, *self._root.children(recursive=True)]
        except psutil.Error:
            return []

    def _kill_marked(self) -> None:
        # Again, because a process may start another in its last moment.
        for _ in range(_ROUNDS if self._mark else 0):
            marked = [
                one
                for one in psutil.process_iter(["environ"])
                if (one.info["environ"] or {}).get(MARK) == self._mark
            ]
            if not marked:
                return
            for one in marked:
                with contextlib.suppress(psutil.Error):
                    one.kill()
            psutil.wait_procs(marked, timeout=_LAST_MOMENT)


def how_it_ended(exit_code: int) -> str:
    """Say how a process ended: with an exit code, or by a signal."""
    if exit_code >= 0:
        return f"with exit code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:  # the real-time ones have no name
        name = "no name"
    return f"by signal {-exit_code} ({name})"


def _affinity() -> int:
    process = psutil.Process()
    if hasattr(process, "cpu_affinity"):  # not on macOS
        return len(process.cpu_affinity())
    return psutil.cpu_count() or 1


def _own_cgroups(root: Path, membership: Path) -> Iterator[Path]:
    """Give the folders whose CPU limits hold for this process: its cgroup and those above it."""
    for line in _text(membership).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        # Version 1 has a tree for each controller, version 2 a single one.
        tree = root / controllers
        # In a container the path may be that of the host, and the tree begins at the container.
        here = tree / path.lstrip("/")
        yield from (folder for folder in (here, *here.parents) if folder.is_relative_to(tree))


def _quota(cgroup: Path) -> float:
    """Read how many cores' time a cgroup may use, in version 2 or 1; infinite without a limit."""
    words = _text(cgroup / "cpu.max").split()
    if not words:
        words = [_text(cgroup / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    if len(words) == 2 and all(map(str.isdigit, words)):  # otherwise "max", or -1
        return int(words[0]) / max(1, int(words[1]))
    return math.inf


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return ""
