"""Links planted in an output folder, and a watch over what they point at."""

import os
import shutil
from pathlib import Path

import pytest

# What a link leads to: something of the same kind, of the other kind, or a name that is not there.
TARGETS = ("twin", "other", "nothing")
Seen = dict[str, tuple[int, int, int, int, bytes]]


def seen(folder: Path) -> Seen:
    """Everything below a folder: mode, inode, size, time of the last change, content."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        name = str(path.relative_to(folder))
        found[name] = (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, content)
    return found


def written(folder: Path) -> list[str]:
    """The names below a folder, at any depth."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def plant(path: Path, twin: Path, target: str) -> None:
    """Put a link to something else in place of an entry, which is removed.

    twin: an entry of the same kind.
    """
    if target == "nothing":
        twin = twin.with_name(f"no-{twin.name}")
    elif target == "other":
        was_folder, twin = twin.is_dir(), twin.with_name(f"other-{twin.name}")
        twin.write_bytes(b"theirs") if was_folder else twin.mkdir()
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    path.symlink_to(twin)


def require_links() -> None:
    """Skip what needs links where a user may not make any."""
    if os.name == "nt":
        pytest.skip("links need rights there")
