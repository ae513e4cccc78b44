"""Make an interpreter on Linux resemble one on macOS or Windows, as NBYT_TEST_PLATFORM says.

Python imports a module of this name when it starts, in every process that finds this folder on its
path. What the other system lacks is removed from `os`, `signal` and psutil, and nbyt cannot read
/proc. Modules that were written anew for the other system keep what they need here, because their
version for it cannot run: those imported below, and all that they import.
"""

import multiprocessing.connection
import multiprocessing.heap
import multiprocessing.popen_spawn_posix
import multiprocessing.resource_tracker
import os
import platform
import signal
import subprocess
import sys
import tempfile
import types
from typing import Any

import psutil

# Written anew for the other system.
KEPT = (multiprocessing, platform, subprocess, tempfile)
MACOS = "memfd_create pipe2 sched_getaffinity sched_setaffinity"
WINDOWS = """
    O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK WNOHANG chown fchmod fork forkpty geteuid getgid
    getloadavg getpgid getpgrp getpriority getsid getuid killpg mkfifo nice pread register_at_fork
    sendfile set_blocking setpgid setsid statvfs sysconf wait waitid waitpid
"""
SIGNALS = """
    ITIMER_REAL SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 alarm getitimer
    pthread_sigmask setitimer siginterrupt sigwait
"""
MODULES = ["fcntl", "grp", "pwd", "resource", "termios"]
# Those through which one opens a file or lists a folder.
OPENERS = {"_io", "codecs", "fnmatch", "genericpath", "glob", "io", "os", "pathlib"}


def keep_whole(module: types.ModuleType) -> None:
    """Give everybody who has imported this module by now a copy, of which nothing is removed."""
    whole = types.ModuleType(module.__name__)
    vars(whole).update(vars(module))
    for name, user in list(sys.modules.items()):
        if name != __name__ and vars(user).get(module.__name__) is module:
            setattr(user, module.__name__, whole)


def remove(owner: Any, names: str) -> None:
    """Remove names from a module or class, where it has them."""
    for name in names.split():
        if hasattr(owner, name):
            delattr(owner, name)


def from_nbyt(frame: types.FrameType | None) -> bool:
    """Whether it is nbyt's own code that runs in a frame."""
    return frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "nbyt"


def hide_proc(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse to open what is under /proc, if it is nbyt that asks."""
    if event not in ("open", "os.listdir", "os.scandir") or not isinstance(arguments[0], str):
        return
    if not arguments[0].startswith("/proc"):
        return
    frame: types.FrameType | None = sys._getframe(1)
    while frame and frame.f_globals.get("__name__") in OPENERS:
        frame = frame.f_back
    if from_nbyt(frame):
        raise FileNotFoundError(arguments[0])


def refuse_inheritance() -> None:
    """Let no process inherit descriptors, and nbyt not wait for one, as on Windows."""
    start, wait = subprocess.Popen.__init__, multiprocessing.connection.wait

    def started(self: Any, *given: Any, **options: Any) -> None:
        assert not options.get("pass_fds"), "pass_fds not supported on Windows."
        start(self, *given, **options)

    def waited(objects: Any, timeout: float | None = None) -> list[Any]:
        if from_nbyt(sys._getframe(1)) and any(isinstance(one, int) for one in objects):
            raise OSError("the handle is invalid")
        return wait(objects, timeout)

    subprocess.Popen.__init__ = started  # type: ignore[method-assign]
    multiprocessing.connection.wait = waited


def become_windows() -> None:
    """Remove what Windows lacks."""
    remove(os, WINDOWS)
    os.supports_dir_fd = set()  # a folder cannot be opened there
    remove(signal, SIGNALS)
    sys.modules.update(dict.fromkeys(MODULES))  # importing one of them fails
    multiprocessing.set_start_method("spawn", force=True)
    multiprocessing.get_all_start_methods = lambda: ["spawn"]
    refuse_inheritance()


PLATFORM = os.environ.get("NBYT_TEST_PLATFORM", "")
if PLATFORM:
    keep_whole(os)
    keep_whole(signal)
    remove(os, MACOS)
    sys.addaudithook(hide_proc)
if PLATFORM == "macos":
    remove(psutil.Process, "cpu_affinity")
if PLATFORM == "windows":
    become_windows()
