"""A lock between processes: whoever comes second waits, and a process that dies lets go."""

import errno
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbyt.store.paths import disk_errors, make_folder, opened


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep all other processes out of the lock of that file while it lasts."""
    make_folder(path.parent)
    with disk_errors(path, 0), opened(path.parent) as folder:
        file = folder.lock_file(path.name)
    with file:  # closing it lets go
        _take(file.fileno())
        yield


def _take(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:
        _take_on_windows(descriptor)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _take_on_windows(descriptor: int) -> None:
    """Lock the file's first byte, which need not exist."""
    msvcrt = importlib.import_module("msvcrt")  # elsewhere, mypy finds nothing in it
    while True:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            return msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
        except OSError as error:  # it gives up after ten seconds
            if error.errno != errno.EDEADLK:
                raise
