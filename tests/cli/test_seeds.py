"""Seeds on the command line: checked alike by every command, before anything is done."""

from pathlib import Path

import pytest

from nbyt.cli import main

LAKE = "tabular:FrozenLake-v1"
COMMANDS = {
    "advise": ("advise", LAKE, "--batch", "64"),
    "train": ("train", LAKE, "--envs", "8", "--steps", "32", "--total", "1024"),
    "dqn": ("train", LAKE, "--algo", "dqn"),
    "probe": ("probe", "nowhere", "--batch", "64"),
    "reproduce": ("reproduce", "post"),
    "sweep": ("sweep", LAKE, "--batch", "64"),
    "audit": ("audit", "permutation", "--batch", "64", "--minibatch", "8", "--epochs", "1"),
    "check-env": ("check-env", LAKE),
    "doctor": ("doctor",),
}


@pytest.mark.parametrize("seed", ["99999999999999999999999", "-1", "1.5", "", "nan", "inf", "x"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_seed_that_cannot_be_is_refused_at_once(
    command: str, seed: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main.run([*COMMANDS[command], f"--seed={seed}"]) == 2
    said = capsys.readouterr().err
    assert "seed" in said and "fix:" in said and "Traceback" not in said
    assert not list(tmp_path.iterdir())


def test_a_sweep_checks_its_last_seed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = ("--seeds", "16", "--out", str(tmp_path / "out"))
    assert main.run([*COMMANDS["sweep"], "--seed", str(2**32 - 1), *out]) == 2
    assert "for 16 seeds" in capsys.readouterr().err and not (tmp_path / "out").exists()
