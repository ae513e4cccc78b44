"""Which processes somebody has started, and those that these have, wherever they are now.

All of them inherit an environment variable, which is shown to whoever looks.
"""

import os
import secrets
import time

import psutil

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
        # What has just gone, or is another user's, has None for either.
        all_ = [one.info for one in psutil.process_iter(["pid", "environ", "cmdline"])]
        ours = [one for one in all_ if (one["environ"] or {}).get(_NAME) == self._mark]
        return {one["pid"]: " ".join(one["cmdline"] or []) for one in ours}

    def seconds_until_gone(self, limit: float) -> float | None:
        """How long it takes until none is left; None where that is longer than the limit."""
        began = time.monotonic()
        while self.alive():
            if time.monotonic() - began > limit:
                return None
            time.sleep(0.05)
        return time.monotonic() - began
