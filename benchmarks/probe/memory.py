"""Memory: what `nbyt probe --dry-run` predicts, and what the same command then uses at most."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.agreement.stages import Task

TARGET_GB, WITHIN = 4.0, 0.2
_CALL = "from nbyt.cli.main import main; main()"
_CARTPOLE = Task("CartPole-v1", 8, 256, 8192)
_WIDE = Task("CartPole-v1", 8, 256, 8192, "256x256")
_PIXELS = Task("gymnax:Breakout-MinAtar", 8, 128, 4096, "cnn")
# The first is the pool of 4M steps.
_COMMANDS = (
    (_CARTPOLE, "--batch 2048 --chains 2048 --chain-steps 2048"),
    (_CARTPOLE, "--batch 2048"),
    (_CARTPOLE, "--batch 2048 --memory 256M --skip-phase"),
    (_CARTPOLE, "--batch 2048 --chains 1024 --steps 32,256"),
    (_WIDE, "--batch 2048 --steps 32,256"),
    (_WIDE, "--batch 2048 --memory 512M --skip-phase"),
    (_PIXELS, "--batch 1024 --steps 32,128"),
)


def memory(*, quick: bool) -> list[dict[str, Any]]:
    """Each command's samples, its peak in GB (10^9 bytes), and the prediction."""
    found = []
    with TemporaryDirectory() as folder:
        for task, options in _COMMANDS[1:3] if quick else _COMMANDS:
            stage = _stage(task, Path(folder) / f"{task.env}-{task.network}")
            said = json.loads(_run(["probe", stage, *options.split(), "--dry-run", "--json"])[0])
            peak = _run(["probe", stage, *options.split(), "--quiet", "--json"])[1]
            found.append(_row(task, options, said["data"], peak))
            print(f"  {found[-1]}", flush=True)
    return found


def _row(task: Task, options: str, said: dict[str, int], peak: float) -> dict[str, Any]:
    ratio = peak / said["bytes"]
    row = {"env": task.env, "network": task.network, "options": options}
    row |= {"samples": said["samples"], "predicted_gb": said["bytes"] / 1e9, "peak_gb": peak / 1e9}
    return {**row, "peak_over_predicted": ratio, "within": abs(ratio - 1) <= WITHIN}


def _stage(task: Task, folder: Path) -> str:
    if not folder.exists():
        _run([*task.words, "--stages", "1", "--out", str(folder), "--quiet"])
    return str(folder / "stage-1")


def _run(words: list[str]) -> tuple[str, float]:
    """What a command of nbyt prints, and the bytes that it used at most."""
    command = [sys.executable, "-c", _CALL, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        said = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"nbyt {' '.join(words)} ended with exit code {child.returncode}")
    return said, used.ru_maxrss * 1024
