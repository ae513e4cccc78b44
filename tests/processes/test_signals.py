"""SIGTERM ends every command, at any time: what was done is saved, and nobody is left behind."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from nbyt.processes.signals import TerminatedError, sigterm_raises, stop_on_signal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows ends a process at once")

NBYT = [sys.executable, "-m", "nbyt.cli.main"]
SMALL = ["--envs=4", "--steps=8", "--minibatch=16", "--epochs=2", "--network=8"]
ENV = """
import gymnasium as g, numpy as np, time
class Slow(g.Env):
    observation_space = g.spaces.Box(-1, 1, (2,), np.float32)
    action_space = g.spaces.Discrete(2)
    def reset(self, seed=None, options=None):
        return np.zeros(2, np.float32), {}
    def step(self, action):
        time.sleep(0.01)
        return np.zeros(2, np.float32), 0.0, False, False, {}
"""


def send() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_the_first_is_a_request_and_the_second_comes_through() -> None:
    with sigterm_raises():
        with stop_on_signal() as outer, stop_on_signal() as inner:
            assert not (outer.made or inner.made)
            send()
            assert outer.made and inner.made
            with stop_on_signal() as late:
                assert late.made
            with pytest.raises(TerminatedError):
                send()
        with pytest.raises(TerminatedError):
            send()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_request_that_nobody_answers_is_enforced() -> None:
    """The main thread sleeps, as one whose env hangs."""

    def hang() -> None:
        with stop_on_signal(patience=0.1):
            send()
            time.sleep(60)

    with sigterm_raises(), pytest.raises(TerminatedError):
        hang()


def test_one_that_the_garbage_collector_loses_comes_again() -> None:
    """What is raised in a callback of the collector, as JAX has one, goes nowhere."""

    def lose(phase: str, info: dict) -> None:
        gc.callbacks.remove(lose)
        send()
        for _ in range(100):  # the handler is called in here
            pass

    with sigterm_raises():
        gc.callbacks.append(lose)
        gc.collect()
        assert lose not in gc.callbacks
        with pytest.raises(TerminatedError):
            time.sleep(60)


def test_outside_the_main_thread_nothing_is_set() -> None:
    seen = []

    def work() -> None:
        with sigterm_raises(), stop_on_signal() as request:
            seen.append(request.made)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]


def test_a_forked_process_dies_of_it_as_usual() -> None:
    code = """
import os, signal, time
from nbyt.processes.signals import sigterm_raises, stop_on_signal
with sigterm_raises(), stop_on_signal():
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(said, b"!")
        time.sleep(60)
        os._exit(0)
    os.read(heard, 1)  # what comes before the fork is done is lost to Python
    os.kill(child, signal.SIGTERM)
    print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == [str(int(signal.SIGTERM))], done.stderr


def ended(command: list[str], folder: Path, ready: str) -> tuple[int, str, list[psutil.Process]]:
    """Exit code and words of a command that gets one SIGTERM, and the processes that are left."""
    process = subprocess.Popen(
        [*NBYT, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not list(folder.glob(ready)) and time.monotonic() < deadline:
        time.sleep(0.05)
    started = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    _, left = psutil.wait_procs(started, timeout=10)
    return process.returncode, said, left


def test_a_training_under_way_saves_its_state(tmp_path: Path) -> None:
    command = ["train", "tabular:FrozenLake-v1", *SMALL[:-1], "--total=2_000_000", "--out=run"]
    code, said, _ = ended([*command, "--save-at=1"], tmp_path, "run/stage-1/*.json")
    assert code == 130 and "everything is saved" in said and "Traceback" not in said
    assert list((tmp_path / "run").glob("checkpoint*"))


def test_a_sweep_that_has_just_begun_leaves_nobody_behind(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(ENV)
    command = ["sweep", "mine:Slow", "--batch=64", "--layouts=8x8", "--seeds=4", "--total=64000"]
    command += ["--network=8", "--out=run", "--workers=2"]
    code, said, left = ended(command, tmp_path, "run/nbyt-run.json")
    assert code == 130 and "same command again" in said and "Traceback" not in said
    assert left == []


def test_signals_that_an_env_takes_are_taken_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stop_on_signal() as request:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.kill(os.getpid(), signal.SIGTERM)
        assert not request.made
        request.listen()
        os.kill(os.getpid(), signal.SIGTERM)
        assert request.made
        request.listen()  # the second is for whoever listened before, at once
        assert signal.getsignal(signal.SIGTERM) is before
    assert signal.getsignal(signal.SIGTERM) is before
