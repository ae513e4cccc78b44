"""What is told after a translation: each kind where it applies."""

from nbyt.dialects import translate
from nbyt.dialects.dialect import load
from nbyt.dialects.differences import DIFFERS, LEFT, LOST, SET, switched


def kinds(source: str, target: str, **given: object) -> dict[str, str]:
    """The kind of each difference, by its code."""
    return {one.code: one.kind for one in translate(source, target, **given).differences}


def test_each_kind_is_told_where_it_applies() -> None:
    found = kinds("sb3", "dopamine", n_envs=8)
    assert found["envs"] == LOST and found["mixing"] == DIFFERS
    assert kinds("sb3", "rllib")["lam_default"] == SET
    assert kinds("rsl_rl", "sb3", num_envs=4, num_steps_per_env=16)["schedule"] == LEFT


def test_losses_come_first_and_alone_are_losses() -> None:
    found = translate("sb3", "dopamine", n_envs=8).differences
    assert [one.loss for one in found] == sorted((one.loss for one in found), reverse=True)
    assert all((one.kind == LOST) == one.loss for one in found)


def test_what_no_setting_can_copy_is_told_of_both_sides() -> None:
    left = [one for one in translate("spinningup", "sb3").differences if one.code == "apart"]
    added = [one for one in translate("sb3", "rllib").differences if one.code == "apart"]
    assert [one.kind for one in left] == [LEFT] and {one.kind for one in added} == {DIFFERS}


def test_a_remainder_that_is_not_there_is_not_counted() -> None:
    found = translate("sb3", "cleanrl", n_envs=8)
    assert "ragged" in {one.code for one in found.differences}
    assert "ragged" not in {one.code for one in found.not_same}


def test_switches_are_named_where_they_bring_the_rules_nearer() -> None:
    source = translate("sb3", "skrl", n_envs=4).source.reading
    assert switched(source, load("skrl")) == {"time_limit_bootstrap": True}
    assert switched(source, load("cleanrl")) == {}
