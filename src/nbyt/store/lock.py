"""Locks between processes: whoever comes second waits or is refused; who dies lets go."""

import errno
import importlib
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nbyt.errors import StoreError
from nbyt.store.paths import disk_errors, make_folder, opened

# Seconds until a folder counts as in use: processes of a killed command's envs, which hold its lock
# too, need a moment to end.
_PATIENCE = 5.0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep all other processes out of the lock of that file while it lasts."""
    make_folder(path.parent)
    with disk_errors(path, 0), opened(path.parent) as folder:
        file = folder.lock_file(path.name)
    with file:  # closing it lets go
        _take(file.fileno())
        yield


@contextmanager
def at_work(folder: Path) -> Iterator[None]:
    """Let no other command work in this folder while it lasts; raise StoreError if one does.

    The folder itself is locked, so no file is left behind. Where a file system or Windows cannot
    lock folders, nobody is refused.
    """
    with ExitStack() as stack:  # closing the folder lets go
        with disk_errors(folder, 0):
            descriptor = stack.enter_context(opened(folder)).descriptor
        if descriptor is not None and not _free(descriptor):
            raise StoreError(
                f"another nbyt command is at work in {folder}",
                where=str(folder),
                fix="wait until it has ended, or choose another --out",
            )
        yield


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
