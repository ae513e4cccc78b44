"""Peak memory of a training command with 65,536 device environments."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

TARGET_GB = 4.0
ENVS, STEPS, MINIBATCH, UPDATES = 65_536, 16, 32_768, 2
_CALL = "from nbyt.cli.main import main; main()"


def memory() -> dict[str, Any]:
    """Peak resident memory in GB (10^9 bytes), and whether it is below the target."""
    sizes = {
        "--envs": ENVS,
        "--steps": STEPS,
        "--minibatch": MINIBATCH,
        "--total": ENVS * STEPS * UPDATES,
    }
    words = [str(word) for pair in sizes.items() for word in pair]
    with TemporaryDirectory() as folder:
        out = ["--out", str(Path(folder) / "run"), "--quiet"]
        command = [sys.executable, "-c", _CALL, "train", "CartPole-v1", *words, *out]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"the training command ended with exit code {child.returncode}")
    peak = used.ru_maxrss * 1024 / 1e9
    return {
        "command": f"nbyt train CartPole-v1 {' '.join(words)}",
        "peak_gb": peak,
        "target": TARGET_GB,
        "reached": peak < TARGET_GB,
    }
