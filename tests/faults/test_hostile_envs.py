"""Whatever an env does, commands name it: no traceback, no hang, stdout one JSON object."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.sweep.processes import Family
from tests.faults import hostile_envs
from tests.sweeps.small import ROOT, outcomes

from nbyt.advice.estimate import startable
from nbyt.cli import main
from nbyt.envs import resolve
from nbyt.errors import EnvError
from nbyt.sweeps.grid import make_grid
from nbyt.sweeps.workers import Workers

ENVS = "tests.faults.hostile_envs"
SIZES = "--envs 2 --steps 16 --minibatch 16 --epochs 1 --total 128 --network 8"
# What check-env says of envs that end, block or cut off their process.
FATAL = {
    "step_exit": ("ends_process", "the env's process ended with exit code 3 in step 3"),
    "reset_segfault": ("ends_process", "ended by signal 11 (SIGSEGV) in reset"),
    "step_deadlock": ("hangs", "the env did not return within 1 s in step 3"),
    "step_close_all": ("closes_files", "the env closed the files of its process"),
}
# What `train` says, and its exit code.
TRAINED = {
    "step_unspeakable": (1, "UnspeakableError: (no words: its __str__ raised ValueError) in step"),
    "reset_base": (1, "raised Base: words in reset"),
    "close_generator_exit": (1, "raised GeneratorExit in close"),
    "step_long_words": (1, "[cut: 1,000,000 characters]"),
    "reward_big": (1, "returned as reward 1000"),
    "observation_count_huge": (2, "1,000,000,000,000 numbers"),
    "build_base": (2, "raised Base: words"),
}


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def nbyt(*words: str, **environ: str) -> subprocess.Popen[str]:
    """A command, under way."""
    command = [sys.executable, "-m", "nbyt.cli.main", *words, "--json"]
    return subprocess.Popen(
        command,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_check_env_names_how_an_env_ended_its_process() -> None:
    family = Family()
    asked = {
        env: nbyt("check-env", f"{ENVS}:{env}", "--step-limit", "1s", **family.environment)
        for env in FATAL
    }
    imported = nbyt("check-env", f"{ENVS}:harmless", NBYT_TEST_IMPORT="exit")
    said = {env: process.communicate(timeout=300) for env, process in asked.items()}
    for env, (code, words) in FATAL.items():
        (fault,) = json.loads(said[env][0])["data"]["faults"]
        assert fault["code"] == code and words in fault["message"], said[env]
        assert asked[env].returncode == 1 and "Traceback" not in said[env][1]
    out, _ = imported.communicate(timeout=300)
    assert "exit code 3 while it was imported" in json.loads(out)["data"]["faults"][0]["message"]
    assert family.seconds_until_gone(10) is not None


@pytest.mark.parametrize("env", TRAINED)
def test_train_names_whatever_an_env_raises(
    env: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, words = TRAINED[env]
    out = ["--out", str(tmp_path / "run"), "--json"]
    assert main.run(["train", f"{ENVS}:{env}", *SIZES.split(), *out]) == code
    assert words in json.loads(capsys.readouterr().out)["error"]["message"]


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ("step_unsendable", "UnsendableError: words in step"),
        ("step_base", "Base: words in step"),
        ("step_exit", "ended with exit code 3"),
        ("reward_array", "returned as reward array"),
        ("observation_space_empty", "returned as observation array"),
    ],
)
def test_an_env_in_a_process_of_its_own_is_named(env: str, words: str) -> None:
    running = resolve(f"{ENVS}:{env}").start(2, vector="async")
    running.reset([0, 1])
    with pytest.raises(EnvError) as caught:
        list(map(running.step, [np.zeros(2, int)] * 12))
    assert words in str(caught.value)


def test_a_process_that_an_env_forks_does_not_train(tmp_path: Path) -> None:
    running = resolve(f"{ENVS}:step_fork").start(1)
    running.reset([0])
    for _ in range(5):
        running.step(np.zeros(1, int))
    with (tmp_path / "went on").open("a") as file:
        file.write(f"{os.getpid()}\n")
    os.wait()
    assert (tmp_path / "went on").read_text() == f"{os.getpid()}\n"


def test_an_env_that_fails_alone_is_not_asked_for_fewer() -> None:
    with pytest.raises(EnvError, match="the user's own words in reset"):
        startable(resolve(f"{ENVS}:reset_raise"), 64)


def test_no_process_of_an_env_survives_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """It left the session, and then its parent died, or the worker was killed."""
    family = Family()
    for name, value in family.environment.items():
        monkeypatch.setenv(name, value)
    for env in ("step_daemon", "step_orphans"):
        sizes = {"batch": 32, "total": 64, "minibatch": 16, "epochs": 1, "layouts": ((2, 16),)}
        grid = make_grid(resolve(f"{ENVS}:{env}"), seeds=1, **sizes)
        (outcome,) = outcomes(Workers(1), grid).values()
        assert isinstance(outcome, EnvError) == (env == "step_orphans")
        assert family.alive() == {}, env


def test_every_deed_can_be_named() -> None:
    names = [f"{place}_{deed}" for place in hostile_envs.PLACES for deed in hostile_envs.DEEDS]
    assert all(callable(getattr(hostile_envs, name)) for name in (*names, *hostile_envs.LIES))
