"""The registry finds every algorithm by its plan, and imports no other."""

import subprocess
import sys

import pytest

from nbyt.layout import Layout
from nbyt.training import plan
from nbyt.training.algorithms import registry
from nbyt.training.dqn import DQNPlan

ONLY_PPO = """
import sys
from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.training.algorithms.registry import Algorithm, build_algorithm
from nbyt.training.plan import PPOPlan, PPOSettings
settings = PPOSettings(network="8")
wanted = PPOPlan("gymnax:CartPole-v1", Layout(2, 4), 8, 0, settings, (1,))
algorithm = build_algorithm(wanted, resolve(wanted.env))
assert isinstance(algorithm, Algorithm)
others = ("nbyt.training.dqn", "nbyt.training.algorithms.dqn")
print([name for name in others if name in sys.modules])
"""


def test_a_run_of_ppo_imports_no_other_algorithm() -> None:
    done = subprocess.run([sys.executable, "-c", ONLY_PPO], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("kind", [plan.PPOPlan, DQNPlan])
def test_every_plan_has_its_algorithm(kind, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name = registry._ALGORITHMS[kind.__name__]
    found = __import__(f"nbyt.training.algorithms.{module}", fromlist=[name])
    monkeypatch.setattr(found, name, lambda *given: given)
    wanted = object.__new__(kind)
    assert registry.build_algorithm(wanted, None) == (wanted, None, None)


def test_a_fault_of_the_env_names_its_place() -> None:
    wanted = plan.PPOPlan("gym:Some-v0", Layout(2, 4), 8, 3, plan.PPOSettings(), (1,))
    error = registry.env_fault(wanted, 1, 7, 0)
    assert "Some-v0" in str(error) and error.where == "env 1, step 7, seed 3, action 0"
