"""Settings that are not enough: all that is missing at once, and what is known already."""

import contextlib
from itertools import chain, combinations

import pytest

from nbyt.dialects import explain, names
from nbyt.dialects.dialect import load
from nbyt.dialects.explaining import explained
from nbyt.dialects.missing import MissingSettingsError


def missing(library: str, **given: object) -> MissingSettingsError:
    """The error for settings that are not enough."""
    with pytest.raises(MissingSettingsError) as caught:
        explain(library, **given)
    return caught.value


@pytest.mark.parametrize("name", names())
def test_what_is_said_to_be_missing_is_enough_and_nothing_of_it_is_too_much(name: str) -> None:
    """Given all of it the answer is whole; given any part of it, exactly the rest is missing."""
    try:
        explain(name)
    except MissingSettingsError as error:
        needed = error.missing
    else:
        return
    explain(name, **dict.fromkeys(needed, 4))
    parts = chain.from_iterable(combinations(needed, size) for size in range(len(needed)))
    for part in parts:
        found = missing(name, **dict.fromkeys(part, 4))
        assert set(found.missing) == set(needed) - set(part)


def test_every_missing_setting_is_in_the_one_message_with_its_place() -> None:
    found = missing("rsl_rl")
    assert found.missing == ["num_envs", "num_steps_per_env"]
    assert "num_envs and num_steps_per_env" in found.message
    assert "num_envs= num_steps_per_env=" in found.fix and "--num_envs in IsaacLab" in found.fix


@pytest.mark.parametrize("name", names())
def test_a_size_without_a_default_says_where_it_is_set(name: str) -> None:
    with contextlib.suppress(MissingSettingsError):
        explain(name)
        return
    assert all(key in load(name).where for key in missing(name).missing)


def test_what_is_said_already_holds_when_the_rest_is_given() -> None:
    found = missing("rsl_rl", num_steps_per_env=24).partial()
    assert found["known"] == {"steps": 24, "minibatches": 4, "epochs": 5}
    assert any("24 x num_envs samples" in said for said in found["says"])
    assert any("20 gradient steps" in said for said in found["says"])
    for envs in (64, 4096):
        whole = explain("rsl_rl", num_steps_per_env=24, num_envs=envs)
        assert whole.schedule["gradient_steps_per_update"] == 20
        assert whole.layout["batch"] == 24 * envs


def test_a_value_that_a_file_leaves_open_is_not_filled_in_with_a_default() -> None:
    with pytest.raises(MissingSettingsError) as caught:
        explained(load("sb3"), [("n_steps", "${steps}"), ("batch_size", "???")], lenient=True)
    assert set(caught.value.missing) == {"n_steps", "batch_size"}
    assert "leaves it to be filled in" in caught.value.partial()["missing"][0]["where"]
