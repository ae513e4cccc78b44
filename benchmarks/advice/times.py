"""How long the command takes on real envs, from the command line to the page."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# The first warms up: it compiles what a machine has not compiled yet.
ASKED = (
    ("gymnax:CartPole-v1", "normal"),
    ("gymnax:CartPole-v1", "quick"),
    ("gymnax:Acrobot-v1", "normal"),
    ("gymnax:Breakout-MinAtar", "quick"),
    ("gym:Hopper-v5", "quick"),
    ("custom_env:make_env", "normal"),
)
_EXAMPLES = Path(__file__).parents[2] / "examples"


def timed(env: str, effort: str) -> dict[str, Any]:
    """Seconds of the command in a process of its own, and what it advised."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "nbyt.cli.main", "advise", env, "--batch", "2048"]
        command += ["--effort", effort, "--out", f"{folder}/advice", "--json", "--quiet"]
        began = time.monotonic()
        done = subprocess.run(command, cwd=_EXAMPLES, capture_output=True, text=True, check=True)
        seconds = time.monotonic() - began
    data = json.loads(done.stdout)["data"]
    said = {kind: f"{one['envs']}x{one['steps']}" for kind, one in data["advice"].items() if one}
    steps = sum(stage["pool"]["samples"] for stage in data["stages"])
    samples = steps + sum(one["total"] for one in data["training"])
    return {"env": env, "effort": effort, "seconds": seconds, "samples": samples, **said}
