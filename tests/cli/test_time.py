"""`nbyt time`: updates timed for another machine, in a file that `nbyt advise` takes."""

import json
from pathlib import Path

import pytest

from nbyt.cli import main

COMMAND = ("time", "FrozenLake-v1", "--batch", "64", "--network", "table", "--envs", "4,16,64")


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of costs of three layouts."""
    out = tmp_path_factory.mktemp("runs") / "costs.json"
    assert main.run([*COMMAND, "--out", str(out), "--quiet"]) == 0
    return out


def test_the_layouts_are_timed_and_the_next_command_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run([*COMMAND, "--out", str(tmp_path / "costs.json"), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "16x4" in said and "ms/update" in said
    assert "next: nbyt advise tabular:FrozenLake-v1 --batch 64 --costs" in said
    assert max(map(len, said.split("\n"))) <= 80 or "costs:" in said


def test_the_file_decides_an_advice(costs: Path, tmp_path: Path, capsys) -> None:
    tokens = ("advise", "FrozenLake-v1", "--batch", "64", "--network", "table", "--trainings", "0")
    given = (*tokens, "--costs", str(costs), "--out", str(tmp_path / "advice"), "--json")
    assert main.run([*given]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert len(data["costs"]["timed"]) == 3 and "costs.json" in data["costs_from"]
    other = (*tokens[:3], "128", *tokens[4:])
    assert main.run([*other, "--costs", str(costs), "--out", str(tmp_path / "other")]) == 2
    assert "batch of 64, not of 128" in " ".join(capsys.readouterr().err.split())


def test_json_has_every_layout_with_its_seconds(tmp_path: Path, capsys) -> None:
    out = tmp_path / "costs.json"
    assert main.run([*COMMAND, "--out", str(out), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert [(one["envs"], one["steps"]) for one in data["layouts"]] == [(4, 16), (16, 4), (64, 1)]
    for one in data["layouts"]:
        assert one["seconds"]["low"] <= one["seconds"]["value"] <= one["seconds"]["high"]
        assert one["steps_per_second"] == pytest.approx(64 / one["seconds"]["value"])
    assert data["out"] == str(out)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--envs", "3,16"), "does not split over 3 envs"),
        (("--envs", "16"), "says nothing about others"),
        (("--envs", "0,16"), "whole number"),
    ],
)
def test_bad_input_is_refused_in_words(change, words: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "costs.json"
    assert main.run([*COMMAND[:6], *change, "--out", str(out)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert words in said and "fix:" in said and not out.exists()


def test_a_file_is_replaced_only_when_told(costs: Path, capsys) -> None:
    before = costs.read_bytes()
    assert main.run([*COMMAND, "--out", str(costs)]) == 2
    assert "is there already" in " ".join(capsys.readouterr().err.split())
    assert costs.read_bytes() == before
