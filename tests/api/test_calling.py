"""A wrong call is an error that names the call, and says what was meant."""

import pytest

import nbyt
from nbyt.api.calling import public
from nbyt.errors import UsageError


@public
def measure(batch: int, *, steps: int = 1) -> int:
    """Multiply."""
    return batch * steps


def test_a_right_call_is_passed_on() -> None:
    assert measure(3, steps=2) == 6
    assert measure.__name__ == "measure" and measure.__doc__ == "Multiply."


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        ({"batch": 1, "step": 2}, "did you mean steps?"),
        ({"batch": 1, "xyz": 2}, "its arguments: batch, steps"),
        ({}, "its arguments: batch, steps"),
    ],
)
def test_a_wrong_call_is_named(arguments, fix) -> None:
    with pytest.raises(UsageError, match=r"nbyt\.measure\(\)") as error:
        measure(**arguments)
    assert error.value.fix == fix


def test_an_error_of_the_function_itself_is_its_own() -> None:
    with pytest.raises(TypeError):
        measure("a", steps="b")


@pytest.mark.parametrize(
    "name",
    ["advise", "audit", "compare", "explain", "load", "probe", "sweep", "train", "translate"],
)
def test_every_public_function_is_one_of_these_and_has_no_catch_all(name) -> None:
    function = getattr(nbyt, name)
    with pytest.raises(UsageError, match=rf"nbyt\.{name}\(\)"):
        function(bacth=1)
    kinds = {one.kind.name for one in __import__("inspect").signature(function).parameters.values()}
    assert "VAR_KEYWORD" not in kinds and "VAR_POSITIONAL" not in kinds
    assert function.__doc__
