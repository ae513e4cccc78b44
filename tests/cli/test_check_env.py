"""`nbyt check-env` as a user gives it."""

import json
from pathlib import Path

from tests.cli.commands import nbyt


def test_check_env_lists_and_times(tmp_path: Path) -> None:
    data = json.loads(nbyt("check-env", "CartPole-v1", "--json", cwd=tmp_path).stdout)["data"]
    assert data["faults"] == [] and data["time_limit"] == 500 and data["copyable"] is True
    assert set(data["steps_per_second"]) == {"1", "8", "64"}
    code = "import gymnasium as g, numpy as np\n" + (
        "class Bad(g.Env):\n"
        " observation_space=g.spaces.Box(-1,1,(2,),np.float32); action_space=g.spaces.Discrete(2)\n"
        " def reset(self,seed=None,options=None): return np.zeros(3,np.float32),{}\n"
        " def step(self,a): return np.zeros(2,np.float32),float('nan'),False,False,{}\n"
    )
    (tmp_path / "mine.py").write_text(code)
    done = nbyt("check-env", "mine:Bad", "--json", cwd=tmp_path, code=1)
    assert len(json.loads(done.stdout)["data"]["faults"]) >= 2


def test_check_env_knows_the_slippery_cliff(tmp_path: Path) -> None:
    """Its table has two rewards for one next state."""
    name = "tabular:CliffWalkingSlippery-v1"
    data = json.loads(nbyt("check-env", name, "--json", cwd=tmp_path).stdout)["data"]
    assert data["env"] == name and data["kind"] == "device" and data["faults"] == []
