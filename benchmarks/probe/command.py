"""Seconds that the whole command takes, with an empty and with a filled program cache."""

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.agreement.stages import CARTPOLE

OPTIONS = "--batch 2048"
_CALL = "from nbyt.cli.main import main; main()"


def command(*, times: int) -> dict[str, Any]:
    """All times taken and their medians: of the first run, and of those after it."""
    with TemporaryDirectory() as folder:
        run, cache = Path(folder) / "run", Path(folder) / "cache"
        extra = ["--stages", "1", "--seed", "0", "--out", str(run), "--quiet"]
        _seconds([*CARTPOLE.words, *extra], Path(folder) / "other")
        words = ["probe", str(run / "stage-1"), *OPTIONS.split(), "--quiet"]
        taken = [_seconds(words, cache) for _ in range(times + 1)]
    return {"cold": taken[0], "warm": taken[1:], "median": median(taken[1:])}


def _seconds(words: list[str], cache: Path) -> float:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-c", _CALL, *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.monotonic() - began
