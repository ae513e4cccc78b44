"""`nbyt train` as a user gives it: PPO, and DQN."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.cli.commands import NBYT, nbyt

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


def test_the_same_command_again_shows_the_same_result(tmp_path: Path) -> None:
    command = ("train", "tabular:FrozenLake-v1", *SMALL[:-2], "--total", "64", "--out", "run")
    first = nbyt(*command, cwd=tmp_path)
    again = nbyt(*command, cwd=tmp_path)
    assert "complete" in again.stderr
    wanted = [line for line in first.stdout.splitlines() if line.startswith("final return")]
    assert wanted and wanted[0] in again.stdout


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


def test_another_run_in_the_folder_is_kept_unless_forced(place: Path) -> None:
    again = ("train", "tabular:FrozenLake-v1", *SMALL[:-2], "--total", "32", "--out", "lake")
    stage = (place / "lake" / "stage-1" / "stage.safetensors").read_bytes()
    done = nbyt(*again, "--seed", "9", cwd=place, code=2)
    assert "seed" in done.stderr and "0 -> 9" in done.stderr
    assert (place / "lake" / "stage-1" / "stage.safetensors").read_bytes() == stage


def test_ctrl_c_saves_and_the_same_command_goes_on(tmp_path: Path) -> None:
    command = [*NBYT, "train", "CartPole-v1", *SMALL, "--total", "40_000", "--out", "run"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "stage-1").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=120)
    assert process.returncode == 130, talk
    assert "same command" in talk
    assert list((tmp_path / "run").glob("checkpoint*"))
    done = subprocess.run([*command, "--json"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    whole = subprocess.run(
        [*command[:-1], "whole", "--json"], cwd=tmp_path, capture_output=True, text=True
    )
    assert whole.returncode == 0, whole.stderr
    for name in ("metrics.csv", "result.json", "stage-3/stage.safetensors"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


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


def test_an_env_that_raises_shows_the_users_own_lines(tmp_path: Path) -> None:
    """First where in their code, then which env, step and seed; the run fails with exit code 1."""
    code = "import gymnasium as g, numpy as np\n" + (
        "class Bad(g.Env):\n"
        " observation_space=g.spaces.Box(-1,1,(2,),np.float32); action_space=g.spaces.Discrete(2)\n"
        " def reset(self,seed=None,options=None): self.t=0; return np.zeros(2,np.float32),{}\n"
        " def step(self,a):\n"
        "  self.t+=1\n"
        "  if self.t==5: raise ValueError('the arm fell off')\n"
        "  return np.zeros(2,np.float32),0.0,False,False,{}\n"
    )
    (tmp_path / "mine.py").write_text(code)
    done = nbyt("train", "mine:Bad", *SMALL, "--total", "320", "--json", cwd=tmp_path, code=1)
    error = json.loads(done.stdout)["error"]
    assert "ValueError: the arm fell off" in error["message"]
    assert error["where"].startswith("env 0, step 4, seed ")
    own, told = done.stderr.find("mine.py:7 in step"), done.stderr.find("error: ")
    assert 0 <= own < told
    assert "local.py" not in done.stderr


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
