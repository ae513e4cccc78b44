"""Seconds from the command to its first update, with an empty and with a filled program cache."""

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

TARGETS = {"cold": 10.0, "warm": 5.0}
COMMAND = (
    "train CartPole-v1 --envs 8 --steps 256 --minibatch 256 --epochs 4 --total 4096 --json --quiet"
)


def start(*, times: int) -> dict[str, Any]:
    """All times taken, their medians, and whether the targets are reached."""
    seconds: dict[str, list[float]] = {"cold": [], "warm": []}
    for _ in range(times):
        with TemporaryDirectory() as folder:
            for kind in seconds:
                seconds[kind].append(_first_update(Path(folder) / "cache", Path(folder) / kind))
    return {
        kind: {
            "seconds": taken,
            "median": median(taken),
            "target": TARGETS[kind],
            "reached": median(taken) < TARGETS[kind],
        }
        for kind, taken in seconds.items()
    }


def _first_update(cache: Path, out: Path) -> float:
    command = [sys.executable, "-m", __spec__.name, *COMMAND.split(), "--out", str(out)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    began = time.monotonic()
    child = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(child.stdout) - began


def _child() -> None:
    """The command itself, except that it ends with the time of its first update."""
    from nbyt import progress
    from nbyt.cli import main

    answer = os.dup(1)  # with --json, file 1 is stderr while the command runs

    def say_time_and_end(_progress: object, _row: object) -> NoReturn:
        os.write(answer, f"{time.monotonic()}\n".encode())  # one clock for all processes
        os._exit(0)

    progress.TrainingProgress.on_update = say_time_and_end  # type: ignore[method-assign, assignment]
    sys.exit(main.run(sys.argv[1:]))


if __name__ == "__main__":
    _child()
