"""A folder of compiled programs, so that the next run need not compile them again.

A compiled program is machine code: it runs only on CPUs that have its instructions, and whoever can
write it can make this process do anything. So each kind of CPU has a folder of its own, and a
folder that is a link, or that somebody else owns or can write, is not used.
"""

import contextlib
import hashlib
import logging
import os
import stat
from pathlib import Path

import jax

from nbyt.store.text import plain
from nbyt.system import instruction_sets

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def keep_compiled_programs() -> None:
    """Let JAX keep what it compiles, unless there is no safe place for it."""
    folder = cache_folder()
    try:
        danger = _make_safe(folder)
    except OSError:  # a read-only home only costs the time of compiling
        return
    if danger:
        logging.getLogger("nbyt").warning("compiled programs are not kept: %s", plain(danger))
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def cache_folder() -> Path:
    """Return the folder for programs that this CPU compiled."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    kind = hashlib.sha256(instruction_sets().encode()).hexdigest()[:12]
    return Path(home) / "nbyt" / f"programs-{kind}"


def _make_safe(folder: Path) -> str:
    """Make the folder and nbyt's own above it, for their owner alone; say why one is not safe."""
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
