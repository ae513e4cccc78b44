"""Every broken device env is caught under its own code; sound ones are left alone."""

import broken_device
import pytest
from checking import codes, name_of

from nbyt.envs.check import check


@pytest.mark.parametrize(("env", "code"), broken_device.DEVICE, ids=name_of)
def test_a_broken_device_env_gets_its_code(env, code: str) -> None:
    assert codes(check(env, steps=40, speeds=())) == {code}


def test_a_sound_device_env_has_no_faults() -> None:
    report = check(broken_device.Walk(), steps=40, speeds=(1, 2))
    assert (report.faults, report.notes, report.kind) == ([], [], "device")
    assert set(report.steps_per_second) == {1, 2}


def test_what_goes_wrong_in_the_speed_test_of_a_device_env_is_a_fault() -> None:
    report = check(broken_device.LateNan(), seed=3, steps=40, speeds=(2,))
    (fault,) = report.faults
    assert fault.code == "reward_nonfinite" and report.steps_per_second == {}
    assert "step 50 of the speed test (env 0 of 2, seed 3)" in fault.message
