"""Checks of an env: its facts, its speed, and faults that only the speed test meets."""

import broken
import corridor
import numpy as np
import pytest
from checking import codes

from nbyt.envs import gymnasium_suite
from nbyt.envs.check import check


@pytest.mark.parametrize("make", [corridor.make, corridor.make_box, corridor.shifted])
def test_sound_host_envs_have_no_faults(make) -> None:
    report = check(gymnasium_suite.GymnasiumEnv("corridor:it", make), steps=50, speeds=(1, 3))
    assert report.faults == []
    assert (report.kind, report.time_limit, report.copyable) == ("host", 7, False)
    assert report.autoreset == "same step"
    assert report.notes == ["the first observation does not depend on the seed"]
    assert set(report.steps_per_second) == {1, 3}
    assert min(report.steps_per_second.values()) > 0


def test_an_env_of_envpool_is_checked_through_its_vector() -> None:
    pytest.importorskip("envpool")
    from nbyt.envs import envpool_suite

    report = check(envpool_suite.find("CartPole-v1"), speeds=(4,))
    assert (report.faults, report.notes, report.copyable) == ([], [], False)
    assert report.autoreset.startswith("next step")


@pytest.mark.parametrize(("factory", "code"), broken.LATE)
@pytest.mark.parametrize("envs", [1, 3])
def test_what_goes_wrong_in_the_speed_test_is_a_fault(factory, code: str, envs: int) -> None:
    env = gymnasium_suite.GymnasiumEnv("broken:it", factory)
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

    report = check(gymnasium_suite.GymnasiumEnv("broken:it", Ends), steps=10, speeds=(2,))
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
