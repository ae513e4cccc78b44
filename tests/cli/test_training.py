"""A training and its folder: finished once, kept, stopped and gone on with, or failed in words."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.cli.commands import NBYT, nbyt

SMALL = ["--envs", "4", "--steps", "8", "--minibatch", "16", "--epochs", "2", "--network", "8"]


def test_the_same_command_shows_its_result_again_and_another_is_refused(tmp_path: Path) -> None:
    command = ("train", "tabular:FrozenLake-v1", *SMALL[:-2], "--total", "64", "--out", "run")
    first = nbyt(*command, cwd=tmp_path)
    again = nbyt(*command, cwd=tmp_path)
    assert "complete" in again.stderr
    wanted = [line for line in first.stdout.splitlines() if line.startswith("final return")]
    assert wanted and wanted[0] in again.stdout
    stage = tmp_path / "run" / "stage-1" / "stage.safetensors"
    before = stage.read_bytes()
    other = nbyt(*command, "--seed", "9", cwd=tmp_path, code=2)
    assert "seed" in other.stderr and "0 -> 9" in other.stderr
    assert stage.read_bytes() == before


@pytest.mark.own_process
def test_ctrl_c_saves_and_the_same_command_goes_on(tmp_path: Path) -> None:
    command = ["train", "CartPole-v1", *SMALL, "--total", "20_000", "--out", "run"]
    process = subprocess.Popen(
        [*NBYT, *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "stage-1").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=120)
    assert process.returncode == 130, talk
    assert "same command" in talk
    assert list((tmp_path / "run").glob("checkpoint*"))
    nbyt(*command, cwd=tmp_path)
    nbyt(*command[:-1], "whole", cwd=tmp_path)
    for name in ("metrics.csv", "result.json", "stage-3/stage.safetensors"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


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
