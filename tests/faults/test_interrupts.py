"""Ctrl-C, as a terminal sends it: to the command and to all processes that it has started."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")

# A callback of the garbage collector, as JAX has one, in which an exception is ignored.
IGNORED = """
import gc, signal, sys, time
from nbyt.cli import main

def interrupted(phase, info):
    gc.callbacks.remove(interrupted)
    raise KeyboardInterrupt

def interrupted_run(tokens):
    gc.callbacks.append(interrupted)
    try:
        gc.collect()
        for _ in range(600):
            time.sleep(0.1)
    except KeyboardInterrupt:
        return 130
    return 0

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
main._run = interrupted_run
main.main([])
"""


def test_an_interrupt_that_python_ignores_is_repeated() -> None:
    assert subprocess.run([sys.executable, "-c", IGNORED], timeout=120).returncode == 130


def test_a_training_with_envs_in_processes_saves_and_stops(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = "train gym:FrozenLake-v1 --vector async --envs 2 --steps 8 --minibatch 16"
    words += " --network table --total 10000000 --save-at 1,1000 --quiet"
    driver = subprocess.Popen(
        [sys.executable, "-m", "nbyt.cli.main", *words.split(), "--out", str(out)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    ends = time.monotonic() + 120
    while driver.poll() is None and not (out / "stage-1").exists():
        assert time.monotonic() < ends, "no update came"
        time.sleep(0.05)
    os.killpg(driver.pid, signal.SIGINT)
    _, said = driver.communicate(timeout=120)
    assert driver.returncode == 130, said
    assert "everything is saved" in " ".join(said.split())
    assert (out / "checkpoint.json").exists()
