"""The command line as a whole: help, config files, odd characters."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.cli.commands import nbyt


def test_a_config_file_is_read_and_the_command_line_wins(tmp_path: Path) -> None:
    lines = "envs = 2\nsteps = 16\nminibatch = 16\nepochs = 1\ntotal = 64\nlambda = 0.5\n"
    (tmp_path / "run.toml").write_text(lines)
    done = nbyt(
        *("train", "CartPole-v1", "--config", "run.toml", "--steps", "8", "--dry-run", "--json"),
        cwd=tmp_path,
    )
    layout = json.loads(done.stdout)["data"]["layout"]
    assert (layout["envs"], layout["steps"], layout["epochs"]) == (2, 8, 1)
    assert list(tmp_path.iterdir()) == [tmp_path / "run.toml"]
    (tmp_path / "run.toml").write_text("envz = 2\n")
    wrong = nbyt("train", "CartPole-v1", "--config", "run.toml", cwd=tmp_path, code=2)
    assert "envz" in wrong.stderr
    missing = nbyt("train", "CartPole-v1", "--config", "no.toml", cwd=tmp_path, code=2)
    assert "no.toml" in missing.stderr


def test_help_and_version_are_quick_to_load(tmp_path: Path) -> None:
    assert nbyt("--version", cwd=tmp_path).stdout.strip().count(".") == 2
    assert "train" in nbyt("--help", cwd=tmp_path).stdout
    listed = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "nbyt.cli.main", "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
    )
    loaded = {line.rpartition("|")[2].strip() for line in listed.stderr.splitlines()}
    assert "cyclopts" in loaded
    assert not loaded & {"jax", "numpy", "gymnasium", "gymnax"}


def test_control_characters_never_reach_the_terminal(tmp_path: Path) -> None:
    done = nbyt("train", "Cart\x1b[31mPole\x07-v1", cwd=tmp_path, code=2)
    assert "\x1b[31m" not in done.stderr and "\x07" not in done.stderr


def test_the_american_spelling_is_known(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("normalize_observations = true\n")
    sizes = ("--envs", "2", "--steps", "8", "--minibatch", "8", "--total", "16")
    options = (*sizes, "--normalize-rewards", "--config", "run.toml", "--out", "run")
    nbyt("train", "CartPole-v1", *options, cwd=tmp_path)
    kept = json.loads((tmp_path / "run/nbyt-run.json").read_text())["facts"]
    settings = kept["identity"]["settings"]
    assert settings["normalise_rewards"] and settings["normalise_observations"]


def test_what_is_said_to_be_next_can_be_run(tmp_path: Path) -> None:
    sizes = ("--envs", "2", "--steps", "8", "--minibatch", "8", "--total", "32")
    for arguments in (
        ("train", "CartPole-v1", *sizes, "--out", "run"),
        ("check-env", "FrozenLake-v1"),
    ):
        said = nbyt(*arguments, cwd=tmp_path).stdout.splitlines()[-1]
        assert said.startswith("next: nbyt ") and str(tmp_path) not in said
        nbyt(*shlex.split(said)[2:], "--dry-run", cwd=tmp_path)
