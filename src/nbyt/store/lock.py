"""Locks between processes: whoever comes second waits or is refused; who dies lets go."""

import errno
import importlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbyt.errors import StoreError
from nbyt.store.atomic import disk_errors

# Seconds until a folder counts as in use: processes of a killed command's envs, which hold its lock
# too, need a moment to end.
_PATIENCE = 5.0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep all other processes out of the lock of that file while it lasts."""
    with disk_errors(path, 0):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    with file:  # closing it lets go
        _take(file.fileno())
        yield


@contextmanager
def at_work(folder: Path) -> Iterator[None]:
    """Let no other command work in this folder while it lasts; raise StoreError if one does.

    The folder itself is locked, so no file is left behind. Where a file system or Windows cannot
    lock folders, nobody is refused.
    """
    descriptor = _opened(folder)
    if descriptor is None:
        yield
        return
    try:
        if not _free(descriptor):
            raise StoreError(
                f"another nbyt command is at work in {folder}",
                where=str(folder),
                fix="wait until it has ended, or choose another --out",
            )
        yield
    finally:
        os.close(descriptor)  # which lets go


def _opened(folder: Path) -> int | None:
    if os.name == "nt":  # which cannot open folders
        return None
    with disk_errors(folder, 0):
        return os.open(folder, os.O_RDONLY)


def _free(descriptor: int) -> bool:
    """Take the lock of a folder, unless somebody else keeps it."""
    try:
        import fcntl
    except ImportError:
        return True
    ends = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > ends:
                return False
            time.sleep(0.05)
        except OSError:  # some network file systems lock no folders
            return True


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
