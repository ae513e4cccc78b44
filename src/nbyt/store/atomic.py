"""Whole-file writes that happen or do not, and reads that trust nothing but a regular file."""

import contextlib
import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from nbyt.errors import StoreError
from nbyt.store.paths import (
    BINARY,
    NOFOLLOW,
    NONBLOCK,
    disk_errors,
    opened,
    require_no_links,
    temporary_name,
)

_READ = os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
}


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path`, durably; after a failure it holds what it held before.

    A link at `path` is replaced; one on the way to it is refused.
    """
    temporary = temporary_name(path.name)
    with disk_errors(path, len(data)), opened(path.parent) as folder:
        try:
            with folder.create(temporary) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            folder.move(temporary, path.name)
        except BaseException:
            # Also on Ctrl-C: no partial file stays visible.
            with contextlib.suppress(OSError):
                folder.remove(temporary)
            raise
        folder.sync()


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, as in `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write `value` as canonical JSON, as in `write_bytes`."""
    write_bytes(path, canonical(value, where=str(path)))


def canonical(value: Any, *, where: str = "") -> bytes:
    """Encode `value` as JSON in the one canonical way: sorted keys, finite numbers only."""
    try:
        # Twice, because keys that are numbers sort otherwise once they have become text.
        once = json.loads(_dumps(value))
        return (_dumps(once) + "\n").encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        message = f"this cannot be written as JSON: {error}"
        fix = "give plain dicts, lists, text and finite numbers"
        raise StoreError(message, where=where, fix=fix) from error


def read_bytes(path: Path, *, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes; refuse anything else unread."""
    try:
        require_no_links(path.parent)
        if not NOFOLLOW and path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        with os.fdopen(os.open(path, _READ), "rb") as file:
            status = os.fstat(file.fileno())
            _require_regular(path, status, limit)
            data = file.read(status.st_size + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if len(data) != status.st_size:
        raise StoreError(
            f"{path} changed while it was read", where=str(path), fix="stop its writer, then retry"
        )
    return data


def _dumps(value: Any) -> str:
    return json.dumps(value, sort_keys=True, indent=1, allow_nan=False)


def _require_regular(path: Path, status: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no regular file")
        raise StoreError(
            f"{path} is {kind}, not a regular file", where=str(path), fix="give a real file"
        )
    if status.st_size > limit:
        message = f"{path} is too large: {status.st_size} bytes, at most {limit} are read"
        fix = "this is not a file that nbyt wrote; restore the right one"
        raise StoreError(message, where=str(path), fix=fix)


def _unreadable(path: Path, error: Exception) -> StoreError:
    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        return StoreError(f"{path} is missing", where=str(path), fix="check the path")
    if number == errno.ELOOP:
        message = f"{path} is a symlink, which nbyt does not follow"
        return StoreError(message, where=str(path), fix="give the real file")
    reason = getattr(error, "strerror", None) or str(error)
    return StoreError(f"{path} cannot be read: {reason}", where=str(path), fix="check the path")
