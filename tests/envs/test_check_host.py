"""Every broken host env is caught under its own code, all faults at once."""

import broken
import gymnasium
import numpy as np
import pytest
from checking import check_factory, codes, name_of
from gymnasium.wrappers import FlattenObservation

from nbyt.envs import gymnasium_suite
from nbyt.envs.check import check


@pytest.mark.parametrize(("factory", "code"), broken.HOST, ids=name_of)
@pytest.mark.filterwarnings("ignore")
def test_a_broken_host_env_gets_its_code(factory, code: str) -> None:
    report = check_factory(factory)
    assert code in codes(report)
    assert all(fault.message and fault.fix for fault in report.faults)
    assert len(report.faults) == 1 or code in ("reset_result", "observation_space", "action_space")
    assert report.steps_per_second == {}


@pytest.mark.filterwarnings("ignore")
def test_all_faults_come_at_once() -> None:
    found = codes(check_factory(broken.Liar))
    assert found >= {
        "action_space",
        "reset_result",
        "observation_shape",
        "observation_dtype",
        "observation_nonfinite",
        "reward_type",
        "terminated_type",
    }


def test_messages_name_the_place_the_value_and_the_remedy() -> None:
    above = broken.said(observation=lambda seen: seen + 5)
    (fault,) = check_factory(above).faults
    assert fault.message.startswith("the observation of step 0 has ")
    assert "at index (0,), outside [-1.0, 1.0]" in fault.message
    (fault,) = check_factory(broken.dict_observation).faults
    assert "FlattenObservation" in fault.fix


def test_the_wrapper_that_is_named_mends_the_env() -> None:
    assert not check_factory(lambda: FlattenObservation(broken.dict_observation())).faults


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Taxi-v4"])
def test_gymnasiums_own_envs_have_no_faults(name: str) -> None:
    report = check(gymnasium_suite.find(name), speeds=())
    assert (report.faults, report.copyable) == ([], True)


def test_never_ending_is_a_note_not_a_fault() -> None:
    class Endless(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.np_random.random(1, np.float32), {}

        def step(self, action):
            return self.np_random.random(1, np.float32), 0.0, False, False, {}

    report = check_factory(Endless)
    assert (report.faults, report.notes) == ([], ["no episode ended in 40 random steps"])
