"""A lock between processes: whoever comes second waits, and a process that dies lets go."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbyt.store.atomic import disk_errors


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nothing; while it lasts, no other process is inside the lock of that file."""
    with disk_errors(path, 0):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
