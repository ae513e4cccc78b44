"""Files that a user names on the command line, read as text: regular ones of a moderate size."""

import os
import stat
from pathlib import Path

LARGEST = 256 * 1024
# Without waiting: opening a pipe must not wait for somebody who writes into it.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def read_text(path: Path) -> str:
    """Return the text of a regular file; a ValueError says why there is none.

    A link is followed: it is the user who typed its name.
    """
    try:
        with os.fdopen(os.open(path, _FLAGS | getattr(os, "O_BINARY", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("it is no regular file")
            raw = file.read(LARGEST + 1)
    except OSError as error:
        reason = "it is no regular file" if path.is_dir() else error.strerror
        raise ValueError(reason or "it cannot be opened") from None
    if len(raw) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST // 1024} KB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
