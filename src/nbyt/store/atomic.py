"""Whole-file writes that happen or do not, and reads that trust nothing but a regular file."""

import contextlib
import errno
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbyt.errors import DISK_FAULTS, DiskError, NbytError, StoreError

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{16}\.tmp", re.DOTALL)
# Windows lacks some of these flags. It has no FIFOs, and links are looked for before opening.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_BINARY", 0)
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
}


def write_bytes(path: Path, data: bytes) -> None:
    """Nothing; `path` then holds `data`, even after power loss, or what it held before."""
    temporary = temporary_beside(path)
    with disk_errors(path, len(data)):
        try:
            with os.fdopen(os.open(temporary, _CREATE, 0o666), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            # Also on Ctrl-C: no partial file stays visible.
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Nothing; `path` then holds `text` as UTF-8, as in `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Nothing; `path` then holds `value` as canonical JSON, as in `write_bytes`."""
    write_bytes(path, canonical(value, where=str(path)))


def canonical(value: Any, *, where: str = "") -> bytes:
    """The one byte string that stands for `value` as JSON: sorted keys, finite numbers only."""
    try:
        # Twice, because keys that are numbers sort otherwise once they have become text.
        once = json.loads(_dumps(value))
        return (_dumps(once) + "\n").encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"this cannot be written as JSON: {error}",
            where=where,
            fix="give plain dicts, lists, text and finite numbers",
        ) from error


def read_bytes(path: Path, *, limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes; anything else is refused unread."""
    try:
        if not _NOFOLLOW and path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        # O_NONBLOCK: opening a FIFO must not wait for a writer who never comes.
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


def sweep_leftovers(folder: Path) -> int:
    """How many temporary files and folders of ours were removed; a killed write leaves one."""
    swept = 0
    for entry in list(folder.iterdir()):
        if not is_leftover(entry.name):
            continue
        with contextlib.suppress(OSError):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
            swept += 1
    return swept


def is_leftover(name: str) -> bool:
    """Whether a file of this name is a temporary of ours."""
    return _LEFTOVER.fullmatch(name) is not None


def temporary_beside(path: Path) -> Path:
    """A new name in the same folder, so that the rename stays within one file system."""
    return path.parent / f".{path.name}.{secrets.token_hex(8)}.tmp"


def sync_folder(folder: Path) -> None:
    """Nothing; the names in `folder` then survive power loss."""
    if os.name == "nt":
        return  # Windows cannot open a folder, and needs no such call
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def disk_errors(path: Path, needed: int) -> Iterator[None]:
    """A block in which an OSError becomes one that names `path` and the bytes needed, if any."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise _unwritable(path, needed, error) from error


def _dumps(value: Any) -> str:
    return json.dumps(value, sort_keys=True, indent=1, allow_nan=False)


def _require_regular(path: Path, status: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no regular file")
        raise StoreError(
            f"{path} is {kind}, not a regular file", where=str(path), fix="give a real file"
        )
    if status.st_size > limit:
        raise StoreError(
            f"{path} is too large: {status.st_size} bytes, at most {limit} are read",
            where=str(path),
            fix="this is not a file that nbyt wrote; restore the right one",
        )


def _unreadable(path: Path, error: Exception) -> StoreError:
    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        return StoreError(f"{path} is missing", where=str(path), fix="check the path")
    if number == errno.ELOOP:
        return StoreError(
            f"{path} is a symlink, which nbyt does not follow",
            where=str(path),
            fix="give the real file",
        )
    reason = getattr(error, "strerror", None) or str(error)
    return StoreError(f"{path} cannot be read: {reason}", where=str(path), fix="check the path")


def _unwritable(path: Path, needed: int, error: Exception) -> NbytError:
    reason = getattr(error, "strerror", None) or str(error)
    room = f", {needed} bytes needed" if needed else ""
    if getattr(error, "errno", None) in DISK_FAULTS:
        return DiskError(
            f"the disk refused {path}{room}: {reason}",
            where=str(path),
            fix="free some space and run the same command again; what was saved is intact",
        )
    return StoreError(
        f"{path} cannot be written{room}: {reason}",
        where=str(path),
        fix="check its permissions, or choose another --out",
    )
