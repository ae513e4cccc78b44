"""Every broken env is caught under its own code, all faults at once; sound envs are left alone."""

import broken
import broken_device
import corridor
import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation

from nbyt.envs import gymnasium_suite
from nbyt.envs.check import check


def codes(report) -> set[str]:
    return {fault.code for fault in report.faults}


def check_factory(factory, **how):
    env = gymnasium_suite.from_factory("broken:it", factory)
    return check(env, steps=40, speeds=(), **how)


def name_of(row) -> str:
    return getattr(row, "__name__", type(row).__name__) if not isinstance(row, str) else row


@pytest.mark.parametrize(("factory", "code"), broken.HOST, ids=name_of)
@pytest.mark.filterwarnings("ignore")
def test_a_broken_host_env_gets_its_code(factory, code: str) -> None:
    report = check_factory(factory)
    assert code in codes(report)
    assert all(fault.message and fault.fix for fault in report.faults)
    assert len(report.faults) == 1 or code in ("reset_result", "observation_space", "action_space")
    assert report.steps_per_second == {}


@pytest.mark.parametrize(("env", "code"), broken_device.DEVICE, ids=name_of)
def test_a_broken_device_env_gets_its_code(env, code: str) -> None:
    assert codes(check(env, steps=40, speeds=())) == {code}


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


@pytest.mark.parametrize("make", [corridor.make, corridor.make_box, corridor.shifted])
def test_sound_host_envs_have_no_faults(make) -> None:
    report = check(gymnasium_suite.from_factory("corridor:it", make), steps=50, speeds=(1, 3))
    assert report.faults == []
    assert (report.kind, report.time_limit, report.copyable) == ("host", 7, False)
    assert report.autoreset == "same step"
    assert report.notes == ["the first observation does not depend on the seed"]
    assert set(report.steps_per_second) == {1, 3}
    assert min(report.steps_per_second.values()) > 0


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Taxi-v4"])
def test_gymnasiums_own_envs_have_no_faults(name: str) -> None:
    report = check(gymnasium_suite.find(name), speeds=())
    assert (report.faults, report.copyable) == ([], True)


def test_an_env_of_envpool_is_checked_through_its_vector() -> None:
    pytest.importorskip("envpool")
    from nbyt.envs import envpool_suite

    report = check(envpool_suite.find("CartPole-v1"), speeds=(4,))
    assert (report.faults, report.notes, report.copyable) == ([], [], False)
    assert report.autoreset.startswith("next step")


def test_a_sound_device_env_has_no_faults() -> None:
    report = check(broken_device.Walk(), steps=40, speeds=(1, 2))
    assert (report.faults, report.notes, report.kind) == ([], [], "device")
    assert set(report.steps_per_second) == {1, 2}


@pytest.mark.parametrize(("factory", "code"), broken.LATE)
@pytest.mark.parametrize("envs", [1, 3])
def test_what_goes_wrong_in_the_speed_test_is_a_fault(factory, code: str, envs: int) -> None:
    env = gymnasium_suite.from_factory("broken:it", factory)
    report = check(env, seed=7, steps=broken.LATE_STEP // 2, speeds=(envs,))
    (fault,) = report.faults
    assert fault.code == code and report.steps_per_second == {}
    assert f"step {broken.LATE_STEP}" in fault.message and "7" in fault.message
    assert "check-env" not in fault.message + fault.fix


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda seen: seen * np.float32(np.nan), "observation_nonfinite"),
        (lambda seen: seen[:1], "step_raises"),
    ],
)
def test_a_final_observation_is_looked_at_in_the_speed_test(spoil, code: str) -> None:
    class Ends(broken.Sound):
        lives = 0

        def step(self, action):
            seen, reward, terminated, truncated, info = super().step(action)
            self.lives += terminated or truncated
            bad = (terminated or truncated) and self.lives > 10
            return spoil(seen) if bad else seen, reward, terminated, truncated, info

    report = check(gymnasium_suite.from_factory("broken:it", Ends), steps=10, speeds=(2,))
    assert codes(report) == {code}


def test_a_fault_never_advises_the_check_that_found_it() -> None:
    """A suite that has only vectors raises nbyt's own errors, which name the check as remedy."""

    class OnlyVectors(gymnasium_suite.GymnasiumEnv):
        def start_one(self):
            return super().start_one() if "_facts" not in vars(self) else None

    env = OnlyVectors("broken:it", broken.LateRaise)
    assert env.observation_space is not None
    (fault,) = check(env, steps=40, speeds=()).faults
    assert fault.code == "step_raises" and "ZeroDivisionError: late" in fault.message
    assert "check-env" not in fault.message + fault.fix


def test_what_goes_wrong_in_the_speed_test_of_a_device_env_is_a_fault() -> None:
    report = check(broken_device.LateNan(), seed=3, steps=40, speeds=(2,))
    (fault,) = report.faults
    assert fault.code == "reward_nonfinite" and report.steps_per_second == {}
    assert "step 50 of the speed test (env 0 of 2, seed 3)" in fault.message


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
