"""Which processes somebody has started, and those that these have, wherever they are now.

All of them inherit an environment variable, and Linux shows it to whoever looks.
"""

import os
import secrets
import time
from pathlib import Path

_NAME = "NBYT_STARTED_BY"


class Family:
    """Processes that are started with `environment`, and all that come of them."""

    def __init__(self) -> None:
        self._mark = secrets.token_hex(8)

    @property
    def environment(self) -> dict[str, str]:
        """What to start them with."""
        return {**os.environ, _NAME: self._mark}

    def alive(self) -> dict[int, str]:
        """Process numbers and command lines."""
        mark = f"{_NAME}={self._mark}\0".encode()
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
            except OSError:  # it has just gone, or is another user's
                continue
        return found

    def seconds_until_gone(self, limit: float) -> float | None:
        """How long it takes until none is left; None where that is longer than the limit."""
        began = time.monotonic()
        while self.alive():
            if time.monotonic() - began > limit:
                return None
            time.sleep(0.05)
        return time.monotonic() - began
