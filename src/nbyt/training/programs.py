"""Compiled programs as files, in a folder that only their owner can write.

A compiled program is machine code: it runs only on CPUs that have its instructions, and a forged
one can make this process do anything. So each kind of CPU has its own folder, and a folder that is
a link, or that somebody else owns or can write, is not used.
"""

import contextlib
import hashlib
import logging
import os
import stat
from pathlib import Path

import jax

from nbyt.errors import DiskError, NbytError, StoreError
from nbyt.store.atomic import read_bytes, write_bytes
from nbyt.store.paths import opened
from nbyt.store.text import plain

LOGGER = logging.getLogger("nbyt")
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_SUFFIX = ".program"
_CHECKSUM = hashlib.sha256().digest_size
_LARGEST = 2**31


def keep_compiled_programs(folder: Path) -> None:
    """Let JAX keep what it compiles in this folder, unless it is not safe."""
    try:
        danger = make_safe(folder)
    except OSError:  # a read-only home only costs the time of compiling
        return
    if danger:
        LOGGER.warning("compiled programs are not kept: %s", plain(danger))
        return
    _serve_programs()
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def _serve_programs() -> None:
    """Make JAX ask `ProgramCache`; a JAX that has moved this function keeps files by itself.

    It never repairs its own: one that was cut short brings a warning in every run.
    """
    with contextlib.suppress(ImportError):
        from jax._src import compilation_cache

        compilation_cache.get_file_cache = open_cache  # type: ignore[assignment]


def cache_folder(cpu: str) -> Path:
    """Return the folder for programs compiled by a CPU with these instruction sets."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    kind = hashlib.sha256(cpu.encode()).hexdigest()[:12]
    return Path(home) / "nbyt" / f"programs-{kind}"


def make_safe(folder: Path) -> str:
    """Make the folder and its parent, private to their owner; say why one is not safe."""
    folder.parents[1].mkdir(parents=True, exist_ok=True)
    for place in (folder.parent, folder):
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)  # whatever the umask: others must not write here
        if why := unsafe(place):
            return f"{place} {why}"
    return ""


def unsafe(folder: Path) -> str:
    """Say why others could put programs into a folder; an empty string if they could not."""
    seen = folder.lstat()
    if stat.S_ISLNK(seen.st_mode):
        return "is a link"
    if not stat.S_ISDIR(seen.st_mode):
        return "is not a folder"
    if not hasattr(os, "getuid"):  # Windows: a user's folders are closed to others
        return ""
    if seen.st_uid != os.getuid():
        return "belongs to someone else"
    return "can be written by others" if seen.st_mode & _OTHERS_MAY_WRITE else ""


class ProgramCache:
    """Keeps one file for each compiled program, with a checksum of its name and content.

    JAX calls `get` before it compiles and `put` after. A damaged file counts as missing, and is
    removed together with all others that are damaged. Neither method raises.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder
        self._is_writable = True

    def get(self, key: str) -> bytes | None:
        """Return the program that was kept under this key, if there is one and it is whole."""
        try:
            return _read(self._path / f"{key}{_SUFFIX}")
        except StoreError:
            self._remove_damaged()
            return None

    def put(self, key: str, value: bytes) -> None:
        """Keep a program; once the disk has refused one, no other is tried."""
        path = self._path / f"{key}{_SUFFIX}"
        if not self._is_writable:
            return
        try:
            write_bytes(path, _checksum(path, value) + value)
        except NbytError as error:
            self._is_writable = False
            if isinstance(error, DiskError):  # a read-only folder only costs the time of compiling
                LOGGER.warning("compiled programs are not kept: %s", plain(error.message))

    def _remove_damaged(self) -> None:
        damaged = [path for path in self._path.glob(f"*{_SUFFIX}") if not _is_whole(path)]
        removed = sum(_remove(path) for path in damaged)
        if removed:
            are = "program was" if removed == 1 else "programs were"
            LOGGER.warning(
                "%d damaged compiled %s removed from %s", removed, are, plain(str(self._path))
            )


def open_cache(folder: str) -> tuple[ProgramCache, str]:
    """Open the cache in a folder, as JAX asks for it; its path may lead through links."""
    return ProgramCache(Path(folder).resolve()), folder


def _read(path: Path) -> bytes | None:
    """Return the program in a file, None if there is no file; a damaged one is refused."""
    if not os.path.lexists(path):
        return None
    data = read_bytes(path, limit=_LARGEST)
    if data[:_CHECKSUM] != _checksum(path, data[_CHECKSUM:]):
        raise StoreError(f"{path} is damaged", where=str(path))
    return data[_CHECKSUM:]


def _checksum(path: Path, value: bytes) -> bytes:
    """Return the checksum of a program; with its name, since another program must not run."""
    return hashlib.sha256(path.name.encode() + b"\0" + value).digest()


def _is_whole(path: Path) -> bool:
    try:
        _read(path)
    except StoreError as error:
        return isinstance(error.__cause__, FileNotFoundError)  # somebody else has removed it
    return True


def _remove(path: Path) -> bool:
    with contextlib.suppress(OSError), opened(path.parent) as folder:
        folder.remove_all(path.name)
        return True
    return False
