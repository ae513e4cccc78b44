"""The one door for writes: folders that are changed without following symbolic links.

A folder that the user names may be reached through links: it is resolved once. From there on each
change is made relative to a folder that is held open, and a link on the way to it is refused. A
link in place of a file is replaced or removed, never what it points at.

Modules other than this one and `atomic` make, change and remove nothing on disk by themselves.
"""

import contextlib
import errno
import importlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from nbyt.errors import DISK_FAULTS, DiskError, NbytError, StoreError

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{16}\.tmp", re.DOTALL)
# Windows cannot open a folder and lacks some flags: there, links are looked for before each change.
_CAN_OPEN_FOLDERS = os.open in os.supports_dir_fd
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # opening a FIFO must not wait for its other end
_FOLDER = os.O_RDONLY | NOFOLLOW | getattr(os, "O_DIRECTORY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY
_LOCK = os.O_RDWR | os.O_CREAT | NOFOLLOW | BINARY | NONBLOCK


@dataclass(frozen=True)
class OpenFolder:
    """A folder held open; all names are of entries in it, and no link among them is followed.

    descriptor: None where the system cannot open folders.
    """

    path: Path
    descriptor: int | None

    def create(self, name: str) -> IO[bytes]:
        """Create a file that was not there, open for writing."""
        return os.fdopen(os.open(self._at(name), _CREATE, 0o666, dir_fd=self.descriptor), "wb")

    def lock_file(self, name: str) -> IO[bytes]:
        """Open a file to lock it, created if it is not there."""
        if not NOFOLLOW and (self.path / name).is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return os.fdopen(os.open(self._at(name), _LOCK, 0o666, dir_fd=self.descriptor), "r+b")

    def make(self, name: str) -> None:
        """Make a folder that was not there."""
        os.mkdir(self._at(name), dir_fd=self.descriptor)

    def move(self, old: str, new: str) -> None:
        """Give an entry another name, in place of a file or link that has the new name."""
        here = self.descriptor
        os.replace(self._at(old), self._at(new), src_dir_fd=here, dst_dir_fd=here)

    def remove(self, name: str) -> None:
        """Remove a file or link."""
        os.unlink(self._at(name), dir_fd=self.descriptor)

    def remove_empty(self, name: str) -> None:
        """Remove a folder in which there is nothing."""
        os.rmdir(self._at(name), dir_fd=self.descriptor)

    def remove_all(self, name: str) -> None:
        """Remove a file or link, or a folder with all that is in it."""
        kind = os.lstat(self._at(name), dir_fd=self.descriptor).st_mode
        if stat.S_ISDIR(kind):
            shutil.rmtree(self._at(name), dir_fd=self.descriptor)
        else:
            self.remove(name)

    def sync(self) -> None:
        """Make the names in the folder survive power loss."""
        if self.descriptor is not None:  # Windows needs no such call
            os.fsync(self.descriptor)

    def _at(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[OpenFolder]:
    """Hold a folder open for changes; a link in its place or on the way to it is refused."""
    require_no_links(folder)
    if not _CAN_OPEN_FOLDERS:
        yield OpenFolder(folder, None)
        return
    descriptor = os.open(folder, _FOLDER)
    try:
        yield OpenFolder(folder, descriptor)
    finally:
        os.close(descriptor)


def resolved(path: Path, where: str = "--out") -> Path:
    """Return the real path of a folder that the user names; only they may lead through links."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # symlink loops, NUL characters
        raise StoreError(
            f"{str(path)!r} cannot be a folder: {error}", where=where, fix=f"choose another {where}"
        ) from error


def resolved_entry(path: Path, where: str = "--out") -> Path:
    """Return the real path of the folder of an entry that the user names, and the entry's name.

    The entry itself may be a link: a write replaces it, a read refuses it.
    """
    path = Path(path)
    if path.name in ("", ".."):
        return resolved(path, where)
    return resolved(path.parent, where) / path.name


def require_no_links(path: Path) -> None:
    """Raise a StoreError if there is a link at `path` or on the way to it."""
    straight = Path(os.path.abspath(path))
    if os.path.normcase(os.path.realpath(straight)) == os.path.normcase(straight):
        return
    ways = [straight, *straight.parents]
    link = next((one for one in reversed(ways) if one.is_symlink()), straight)
    raise _link(link, "put the folder itself there, or move the link away")


def make_folder(path: Path) -> None:
    """Make a folder and those above it where they are missing; a link on the way is refused."""
    with disk_errors(path, 0):
        require_no_links(path)
        path.mkdir(parents=True, exist_ok=True)
        require_no_links(path)


def make_writable(path: Path) -> None:
    """Make a folder if it is missing, and refuse one that nothing can be written to."""
    make_folder(path)
    with disk_errors(path, 0):
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def remove_file(path: Path) -> None:
    """Remove a file or link if it is there."""
    with (
        disk_errors(path, 0),
        contextlib.suppress(FileNotFoundError),
        opened(path.parent) as folder,
    ):
        folder.remove(path.name)


def remove_if_empty(path: Path) -> None:
    """Remove a folder unless somebody put a file of their own there."""
    with contextlib.suppress(OSError), opened(path.parent) as folder:
        folder.remove_empty(path.name)


def remove_leftovers(path: Path) -> int:
    """Remove our temporary files and folders, and count them; a killed write leaves one."""
    removed = 0
    with opened(path) as folder:
        for name in filter(is_leftover, os.listdir(path)):
            with contextlib.suppress(OSError):
                folder.remove_all(name)
                removed += 1
    return removed


def is_leftover(name: str) -> bool:
    """Return whether a file of this name is a temporary of ours."""
    return _LEFTOVER.fullmatch(name) is not None


def temporary_name(name: str) -> str:
    """Return a new name for the same folder, so that the rename stays within one file system."""
    return f".{name}.{secrets.token_hex(8)}.tmp"


@contextlib.contextmanager
def disk_errors(path: Path, needed: int) -> Iterator[None]:
    """Turn an OSError into one that names `path` and the bytes needed, if any."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise _unwritable(path, needed, error) from error


def _unwritable(path: Path, needed: int, error: Exception) -> NbytError:
    number = getattr(error, "errno", None)
    if number == errno.ELOOP:
        return _link(path, "move the link away, or choose another --out")
    reason = getattr(error, "strerror", None) or str(error)
    room = f", {needed} bytes needed" if needed else ""
    if number in DISK_FAULTS:
        message = f"the disk refused {path}{room}: {reason}"
        fix = "free some space and run the same command again; what was saved is intact"
        return DiskError(message, where=str(path), fix=fix)
    message = f"{path} cannot be written{room}: {reason}"
    fix = "check its permissions, or choose another --out"
    return StoreError(message, where=str(path), fix=fix)


def _link(path: Path, fix: str) -> StoreError:
    return StoreError(f"{path} is a symlink, which nbyt does not follow", where=str(path), fix=fix)


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
            message = f"another nbyt command is at work in {folder}"
            fix = "wait until it has ended, or choose another --out"
            raise StoreError(message, where=str(folder), fix=fix)
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
