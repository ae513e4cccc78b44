"""`nbyt train --algo dqn` as a user gives it."""

import json
from pathlib import Path

import pytest
from tests.cli.test_commands import nbyt

from nbyt.cli import main

SMALL = ["--algo", "dqn", "--minibatch", "16", "--warm-up", "64", "--network", "8"]


def test_a_run_its_stages_and_its_second_run(tmp_path: Path) -> None:
    command = ("train", "CartPole-v1", *SMALL, "--total", "2_000", "--buffer", "1_000", "--json")
    data = json.loads(nbyt(*command, cwd=tmp_path).stdout)["data"]
    assert data["algo"] == "dqn" and data["layout"]["buffer"] == 1000 and data["updates"] == 500
    bounds = data["final_return"]
    assert bounds["low"] <= bounds["value"] <= bounds["high"] and data["episodes"] >= 20
    assert len(data["stages"]) == 3 and "CartPole-v1-dqn-1x4" in data["out"]
    again = nbyt(*command, cwd=tmp_path)
    assert "complete" in again.stderr
    assert json.loads(again.stdout)["data"]["final_return"] == bounds
    refused = nbyt("probe", data["stages"][-1], "--batch", "64", cwd=tmp_path, code=2)
    assert "a stage of 'dqn'" in refused.stderr
    going_on = ("--from", data["stages"][-1], "--total", "400", "--out", "more")
    nbyt("train", "CartPole-v1", *SMALL, *going_on, cwd=tmp_path)


def test_the_algorithm_may_be_named_in_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.toml"
    file.write_text('algo = "dqn"\nbuffer = 800\nminibatch = 8\n')
    code = main.run(["train", "CartPole-v1", "--config", str(file), "--dry-run", "--json"])
    data = json.loads(capsys.readouterr().out)["data"]
    assert code == 0 and data["layout"]["buffer"] == 800 and data["buffer_bytes"] == 800 * 42


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--buffer", "16", "--minibatch", "32"], "smaller than a mini-batch"),
        (["--buffer", "1001"], "nearest that do"),
        (["--buffer", "-8"], "buffer must be a whole number"),
        (["--warm-up", "8"], "does not hold a mini-batch"),
        (["--clip", "0.1"], "Unknown option"),
        (["--sampling", "alphabetical"], "uniform"),
        (["--gamma", "2"], "gamma must be between 0 and 1"),
    ],
)
def test_a_wrong_request_is_refused(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["train", "CartPole-v1", "--algo", "dqn", *options]) == 2
    assert words in capsys.readouterr().err


def test_continuous_actions_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["train", "gymnax:Pendulum-v1", "--algo", "dqn"]) == 2
    assert "numbered actions" in capsys.readouterr().err
