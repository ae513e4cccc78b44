"""Texts from outside stay texts: no markup, no terminal command, no reordering in any output."""

import csv
import json
import re
import shutil
from html import escape
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from nbyt.cli import main

# A closing tag that matches nothing, a link, a colour, a link of the terminal, reversed letters.
TEXT = "x[/b]y [link=evil]z\x1b[38;5;201m\x1b]8;;evil\x07\u202etxt"
NEVER = ("\x1b[38;5;201m", "\x1b]", "\x07", "\u202e")
# What a page would run and a spreadsheet would calculate.
MARKUP = "=cmd|'/c calc'!A1 <img src=x onerror=alert(1)></script><script>alert(1)</script>"
HERE = "tests.cli.test_hostile_text"


class Shouts(gymnasium.Env):
    """An env whose every step raises a hostile message."""

    observation_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        raise ValueError(TEXT + MARKUP)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run a command as on a terminal, and return all that it printed after checking it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "400")  # a text that is wrapped is hard to find again
    monkeypatch.chdir(tmp_path)

    def run(*tokens: str, code: int = 0) -> str:
        found = main.run(list(tokens))
        out, err = capsys.readouterr()
        assert found == code, err
        assert not any(one in out + err for one in NEVER), repr(out + err)
        return out + err

    return run


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in a folder with a hostile name."""
    out = tmp_path_factory.mktemp("runs") / TEXT
    assert main.run([*TRAIN, "--out", str(out), "--quiet"]) == 0
    return out


SIZES = ("--envs", "4", "--steps", "4", "--minibatch", "16", "--total", "64")
TRAIN = ("train", "tabular:FrozenLake-v1", *SIZES, "--network", "table")


def test_train_shows_the_path_as_it_is(said, trained: Path) -> None:
    assert "x[/b]y [link=evil]z" in said(*TRAIN, "--out", str(trained))
    assert "x[/b]y [link=evil]z" in said(*TRAIN, "--out", str(trained), "--seed", "1", code=2)
    assert "[link=evil]" in said(*TRAIN[:1], f"{HERE}:Shouts", *SIZES, "--out", "y", code=1)


def test_probe_names_the_stage_as_it_is(said, trained: Path) -> None:
    stage = str(trained / "stage-1")
    assert "x[/b]y" in said("probe", stage, "--batch", "16", "--steps", "4", "--chains", "8")
    assert "x[/b]y" in said("probe", str(trained / TEXT), "--batch", "16", code=2)


def test_sweep_prints_paths_and_messages_as_they_are(said) -> None:
    sizes = ("--batch", "16", "--total", "64", "--layouts", "4x4", "--seeds", "1")
    text = said("sweep", f"{HERE}:Shouts", *sizes, "--out", TEXT, code=3)
    assert "ValueError: x[/b]y [link=evil]z" in text
    assert re.search(r"report: .*x\[/b\]y \[link=evil\]z.*txt/report.html", text)
    page = (Path(TEXT) / "report.html").read_text(encoding="utf-8")
    assert escape(MARKUP) in page and MARKUP not in page and "<img" not in page
    table = (Path(TEXT) / "table.csv").read_text()
    cells = [cell for row in csv.reader(table.splitlines()) for cell in row]
    assert all(re.fullmatch(r"[a-z_0-9]*|-?\d+(\.\d+)?(e-?\d+)?", cell) for cell in cells)


def test_check_env_prints_an_envs_message_as_it_is(said) -> None:
    assert "x[/b]y [link=evil]z" in said("check-env", f"{HERE}:Shouts", code=1)


def test_doctor_names_bad_files_as_they_are(said, trained: Path, tmp_path: Path) -> None:
    broken = tmp_path / TEXT
    shutil.copytree(trained, broken)
    (broken / "stage-1" / "stage.json").write_text("{}")
    assert "x[/b]y" in said("doctor", "--dir", str(broken), code=1)


def test_settings_and_files_are_shown_as_they_are(said, tmp_path: Path) -> None:
    config = tmp_path / "a [link=evil].json"
    config.write_text(json.dumps({"n_envs": TEXT}))
    assert "[link=evil]" in said("explain", "sb3", "--file", str(config), code=2)
    assert "[/b]" in said("train", "--config", TEXT, code=2)


@pytest.mark.parametrize(
    "tokens",
    [
        ("advise", TEXT, "--batch", "64"),
        ("advise", "FrozenLake-v1", "--batch", "64", "--current", TEXT),
        ("train", TEXT, *SIZES),
        ("sweep", TEXT, "--batch", "64"),
        ("probe", TEXT, "--batch", "64"),
        ("report", TEXT),
        ("reproduce", TEXT),
        ("explain", TEXT),
        ("explain", "sb3", f"{TEXT}=1"),
        ("explain", "sb3", f"n_envs={TEXT}"),
        ("translate", "sb3", TEXT, "n_envs=8"),
        ("compare", "sb3", f"n_envs={TEXT}", "--", "sb3"),
        ("audit", TEXT, "--batch", "64", "--minibatch", "8", "--epochs", "1"),
        ("dialects", TEXT),
        ("check-env", TEXT),
        ("doctor", "--dir", TEXT),
        ("doctor", f"--{TEXT}"),
        (TEXT,),
    ],
)
def test_what_is_refused_is_quoted_as_it_is(said, tokens: tuple[str, ...]) -> None:
    text = said(*tokens, code=2)
    assert "[/b]" in text and "fix:" in text
