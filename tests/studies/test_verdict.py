"""Verdicts follow from the numbers, and from nothing else."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbyt_studies.verdict import Check, judge


def check(low: float, high: float, *, at_least: float = 0.0, **case: str) -> Check:
    """A check that asks whether a number is above a bound."""
    number = {"value": (low + high) / 2, "low": low, "high": high}
    return Check(case or {"env": "x"}, "a number", number, low=at_least)


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(1, 2, "yes"), (0, 1, "yes"), (-1, 1, "open"), (-2, -1, "no"), (-1, 0, "open")],
)
def test_a_check_looks_at_the_whole_interval(low: float, high: float, says: str) -> None:
    assert check(low, high).says == says


def test_a_check_has_two_sides() -> None:
    number = {"value": 1.0, "low": 0.95, "high": 1.05}
    assert Check({}, "a ratio", number, 0.9, 1.1).says == "yes"
    assert Check({}, "a ratio", number, 1.0, 1.1).says == "open"
    assert Check({}, "a ratio", number, 1.2, 1.3).says == "no"
    assert Check({}, "a ratio", number, 0.5, 0.9).says == "no"


@pytest.mark.parametrize("missing", ["value", "low", "high"])
def test_what_is_undetermined_is_open(missing: str) -> None:
    number = {"value": 1.0, "low": 0.5, "high": 1.5, missing: None}
    assert Check({}, "a number", number, low=0.0).says == "open"


def test_all_say_yes_or_all_say_no() -> None:
    assert judge([check(1, 2)] * 3).word == "holds"
    assert judge([check(-2, -1)] * 3).word == "does not hold"


def test_one_wrong_check_in_twenty_is_chance() -> None:
    most = [check(1, 2)] * 19
    assert judge([*most, check(-2, -1)]).word == "holds"
    assert judge([*most[1:], check(-2, -1)]).word == "holds when"


def test_mostly_open_cannot_be_told() -> None:
    assert judge([check(1, 2), check(-1, 1)]).word == "cannot be told"
    assert judge([check(1, 2), check(1, 2), check(-1, 1)]).word == "holds"
    assert judge([]).word == "cannot be told"


def test_the_condition_is_the_property_that_tells_best() -> None:
    checks = [
        check(sign, sign, at_least=0.5, env=env, gradient=gradient)
        for gradient, sign in (("actor", 0), ("critic", 1))
        for env in ("a", "b", "c")
    ]
    verdict = judge(checks)
    assert verdict.word == "holds when"
    assert verdict.when == "gradient is critic (3 of 3); not actor (0 of 3)"
    assert (verdict.yes, verdict.no, verdict.open) == (3, 3, 0)
    unsure = judge([*checks, check(0, 1, at_least=0.5, env="d", gradient="actor")])
    assert unsure.when == "gradient is critic (3 of 3); not actor (0 of 3, 1 open)"


def test_a_verdict_says_where_nothing_could_be_told() -> None:
    critic = [check(1, 2, gradient="critic", env=env) for env in "abcde"]
    actor = [check(-1, 1, gradient="actor", env=env) for env in "abcd"]
    verdict = judge([*critic, *actor])
    assert verdict.word == "holds"
    assert verdict.when == "(cannot be told where gradient is actor (4 of 4 open))"
    # Open checks that no property marks off are only counted.
    mixed = [check(-1, 1, gradient="critic", env=env) for env in "abc"]
    assert judge([*critic, *mixed]).when == ""


def test_a_condition_needs_a_property_that_differs() -> None:
    verdict = judge([check(1, 2), check(-2, -1)])
    assert str(verdict) == "holds when in 1 of 2 checks"


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 3)), min_size=1, max_size=40))
def test_turning_a_claim_around_turns_the_verdict_around(numbers: list) -> None:
    def judged(low: float, high: float) -> str:
        made = [
            Check({"env": "x"}, "n", {"value": v, "low": v - w, "high": v + w}, low, high)
            for v, w in numbers
        ]
        return judge(made).word

    bound = math.pi  # no interval ends there
    turned = {"holds": "does not hold", "does not hold": "holds"}
    above, below = judged(bound, math.inf), judged(-math.inf, bound)
    assert below == turned.get(above, above)
