"""The law of platforms: every command runs where only what macOS or Windows has is there.

Linux is made to resemble them by what they lack (`tests/platforms`); docs/platforms.md says what
that shows and what it does not.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nbyt.cli.main import _COMMANDS

ROOT = Path(__file__).parents[1]
HOST, DEVICE = "tests.envs.corridor:make", "tabular:FrozenLake-v1"
SIZES = "--minibatch 16 --epochs 1 --network table --quiet"
# The cheapest of each, in this order: some read what others have written.
COMMANDS = {
    "advise": f"advise {DEVICE} --batch 64 --dry-run",
    "audit": "audit sb3 --batch 64 --minibatch 16 --epochs 2 --skip-rollout",
    "check-env": f"check-env {HOST} --steps 20 --quiet",
    "calculator": "calculator --out OUT/calculator.html",
    "check-config": "check-config sb3 examples/check-config/workflow.yml",
    "compare": "compare sb3 n_envs=8 -- sb3 n_envs=64",
    "dialects": "dialects sb3",
    "explain": "explain sb3 n_envs=8 n_steps=125 batch_size=64",
    "reproduce": "reproduce post --dry-run",
    "translate": "translate ppo1 sb3 processes=8 timesteps_per_actorbatch=256",
    # A process for each env.
    "train": f"train {HOST} --envs 2 --steps 16 --total 32 {SIZES} --vector async --out OUT/run",
    "doctor": "doctor --dir OUT/run",
    "probe": "probe OUT/run/stage-1 --trust-env --batch 32 --chains 8 --dry-run",
    # A process for each training, with a board, a keeper and a limit.
    "sweep": f"sweep {HOST} --batch 32 --layouts 4x8 --total 32 --seeds 1 {SIZES} --no-advice"
    " --out OUT/sweep",
    "report": "report OUT/sweep",
    "time": f"time {DEVICE} --batch 16 --envs 2,8 {SIZES} --out OUT/costs.json",
}
# As `nbyt` does it, all in one process: each would need seconds to import JAX.
RUN = """
import json, os, signal, sys, traceback
from nbyt.cli.main import run

codes = {}
for name, tokens in json.loads(sys.argv[1]).items():
    try:
        codes[name] = run(tokens)
    except BaseException:
        codes[name] = traceback.format_exc()
lacks = [name for name in ("sched_getaffinity", "killpg") if not hasattr(os, name)]
lacks += [name for name in ("SIGALRM", "SIGKILL") if not hasattr(signal, name)]
try:  # as if nbyt did it
    exec("open('/proc/self/stat')", {"__name__": "nbyt.system"})
except FileNotFoundError:
    lacks.append("/proc")
print(json.dumps({"codes": codes, "lacks": lacks}), file=sys.__stdout__)
"""
LACKS = {
    "macos": ["sched_getaffinity", "/proc"],
    "windows": ["sched_getaffinity", "killpg", "SIGALRM", "SIGKILL", "/proc"],
}


def environment(platform: str) -> dict[str, str]:
    """What makes an interpreter resemble one on that platform."""
    path = [ROOT / "tests" / "platforms", ROOT / "src", ROOT]
    changes = {"PYTHONPATH": os.pathsep.join(map(str, path)), "NBYT_TEST_PLATFORM": platform}
    if platform == "windows":
        changes["PYTHONIOENCODING"] = "cp1252"  # what is printed into a file or a pipe there
    return {**os.environ, **changes}


def on(platform: str, code: str, *arguments: str) -> tuple[Any, str]:
    """What a program prints last there, as JSON, and what it says on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=environment(platform),
        capture_output=True,
        encoding="cp1252" if platform == "windows" else None,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_no_command_is_left_out() -> None:
    assert set(COMMANDS) == set(_COMMANDS)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems are what they are")
@pytest.mark.parametrize("platform", LACKS)
def test_every_command_runs_there(tmp_path: Path, platform: str) -> None:
    words = {name: text.replace("OUT", str(tmp_path)).split() for name, text in COMMANDS.items()}
    found, said = on(platform, RUN, json.dumps(words))
    assert found["lacks"] == LACKS[platform]
    assert {name: code for name, code in found["codes"].items() if code != 0} == {}, said
    assert (tmp_path / "sweep" / "report.html").exists()
