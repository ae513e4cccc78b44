"""`nbyt train` as a user gives it: PPO, and DQN."""

import json
from pathlib import Path

import pytest
from tests.cli.commands import nbyt

from nbyt.cli import main

SMALL = ["--envs", "4", "--steps", "8", "--minibatch", "16", "--epochs", "2", "--network", "8"]


def test_train_json_keeps_its_promise(tmp_path: Path) -> None:
    done = nbyt("train", "CartPole-v1", *SMALL, "--total", "320", "--json", cwd=tmp_path)
    record = json.loads(done.stdout)
    assert record["status"] == "ok" and record["command"] == "train" and record["warnings"] == []
    data = record["data"]
    bounds = data["final_return"]
    assert bounds["low"] <= bounds["value"] <= bounds["high"]
    assert data["episodes"] >= 20 and data["steps_per_second"] > 0
    assert data["layout"]["batch"] == 32 and data["layout"]["minibatches"] == 2
    assert len(data["stages"]) == 3
    assert all(Path(stage).is_absolute() and Path(stage).is_dir() for stage in data["stages"])


WRONG = {
    "unknown env": (["CartPool-v1"], "CartPole-v1"),
    "not divisible": (["CartPole-v1", "--envs", "5", "--steps", "5", "--minibatch", "7"], "5, 25"),
    "zero": (["CartPole-v1", "--envs", "0"], "envs"),
    "negative": (["CartPole-v1", "--steps", "-3"], "steps"),
    "too short": (["CartPole-v1", "--total", "100"], "2048"),
    "recurrent": (["CartPole-v1", "--network", "lstm"], "recurrent"),
    "wrong space": (["gym:Blackjack-v1"], "FlattenObservation"),
    "unknown option": (["CartPole-v1", "--gama", "0.9"], "--gamma"),
    "not a number": (["CartPole-v1", "--envs", "many"], "envs"),
    "foreign folder": (["CartPole-v1", "--out", "foreign"], "not an nbyt run"),
    "stage of another env": (["CartPole-v1", "--from", "lake/stage-1"], "tabular:FrozenLake-v1"),
    "layout auto": (["CartPole-v1", "--layout", "auto", "--batch", "2048"], "nbyt advise"),
    "batch": (["CartPole-v1", "--batch", "2048"], "--layout auto, which was removed"),
    "unwritable": (["CartPole-v1", "--out", "/proc/nbyt"], "cannot be written"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a foreign folder and a small run in it."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "foreign").mkdir()
    (folder / "foreign" / "thesis.txt").write_text("precious")
    nbyt(
        *("train", "tabular:FrozenLake-v1", *SMALL[:-2], "--total", "32", "--out", "lake"),
        cwd=folder,
    )
    return folder


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_refused_in_words(
    place: Path, case: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, because a dozen starts of Python would take half a minute."""
    arguments, expected = WRONG[case]
    monkeypatch.chdir(place)
    before = sorted(str(path) for path in place.rglob("*"))
    assert main.run(["train", *arguments, "--json"]) == 2
    told = capfd.readouterr()
    record = json.loads(told.out)
    assert record["status"] == "failed" and record["data"] is None
    error = record["error"]
    assert set(error) == {"code", "message", "where", "fix"} and all(error.values())
    assert expected in f"{error['message']} {error['where']} {error['fix']}"
    assert error["message"].split()[0] in told.err and "Traceback" not in told.err
    assert sorted(str(path) for path in place.rglob("*")) == before


def test_options_have_the_promised_names(tmp_path: Path) -> None:
    """The words of the documentation, lambda among them, which Python cannot spell."""
    names = "--envs --steps --minibatch --epochs --total --gamma --lambda --learning-rate --network"
    names += " --stages --save-at --stagger --seed --out --json --quiet --config --dry-run --device"
    shown = nbyt("train", "--help", cwd=tmp_path).stdout
    assert [name for name in names.split() if f"{name} " not in shown] == []
    done = nbyt(
        *("train", "CartPole-v1", "--lambda", "0.5", "--total", "4096", "--dry-run"), cwd=tmp_path
    )
    assert "2048" in done.stdout


DQN = ["--algo", "dqn", "--minibatch", "16", "--warm-up", "64", "--network", "8"]


def test_a_run_its_stages_and_its_second_run(tmp_path: Path) -> None:
    command = ("train", "CartPole-v1", *DQN, "--total", "2_000", "--buffer", "1_000", "--json")
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
    nbyt("train", "CartPole-v1", *DQN, *going_on, cwd=tmp_path)


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
