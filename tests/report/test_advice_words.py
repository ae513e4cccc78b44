"""Sentences about an advice: what it rests on, how good the rule was, what other layouts lose."""

from typing import Any

import pytest
from msgspec import convert
from tests.report import made_up_advice

from nbyt.report.advice_words import (
    chance_words,
    claimed_steps,
    count_words,
    marks,
    others_words,
    raced_words,
    rests_words,
    time_words,
    track_words,
)
from nbyt.report.numbers import percent
from nbyt.results import Advice
from nbyt.results.prior import Loss
from nbyt.results.values import OfLayout

Data = dict[str, Any]


@pytest.fixture
def data() -> Data:
    """An advice by a race."""
    return made_up_advice.sample()


def record(data: Data) -> Advice:
    """The data as a record."""
    return convert(data, Advice)


def test_numbers_are_short() -> None:
    assert [count_words(x) for x in (0, 9_999, 12_345, 819_200, 7_340_032, 1_234_567_890)] == [
        *("0", "9,999", "12k", "0.82M", "7.3M", "1,200M"),
    ]
    assert [time_words(x) for x in (0.0, 0.42, 41.3, 150, 1500, 9000, 90_000)] == [
        *("0 s", "0.42 s", "41 s", "2.5 min", "25 min", "2.5 h", "25 h"),
    ]
    assert [chance_words(x) for x in (0.0, 0.04, 0.891, 1.0)] == ["< .01", ".04", ".89", "> .99"]
    assert percent(Loss(value=0.034, low=0.0, high=0.081)) == "3 % [0, 8]"


def test_what_the_answer_rests_on_is_counted(data: Data) -> None:
    assert rests_words(record(data)) == (
        "Rests on 16 quarter trainings (4.0 trainings, 0.82M env steps, 41 s) and on 24 reference "
        "tasks."
    )
    bare = rests_words(record(made_up_advice.without_race(data)))
    assert bare == "Rests on 24 reference tasks; no layout was trained on this one (0.4 s)."
    unlearnt = rests_words(record(made_up_advice.unlearnt(data)))
    assert unlearnt.startswith("Nothing was learnt in 16 quarter trainings (")


def test_one_training_is_singular_and_other_lengths_have_names(data: Data) -> None:
    arm = data["race"]["arms"][0]
    arm |= {key: arm[key][:1] for key in ("seeds", "returns", "gains")}
    for fraction, words in (
        (0.25, "1 quarter training"),
        (1.0, "1 whole training"),
        (0.1, "1 10 %"),
    ):
        data["race"] |= {"arms": [arm], "fraction": fraction}
        race = record(data).race
        assert race is not None and raced_words(race).startswith(words)


def test_the_track_record_stands_beside_its_rivals(data: Data) -> None:
    assert track_words(record(data)) == (
        "On 12 tasks it had not seen, at measured costs: this rule lost 3 % [1, 6] at 4 "
        "trainings; a constant T 11 % [5, 18]; Optuna TPE, median pruner at this cost 13 % "
        "[6, 21]."
    )
    data["track_record"] = made_up_advice.track(sealed=False)
    said = track_words(record(data))
    assert said is not None and said.startswith("On 12 reference tasks, each left out in turn")
    data["advice"]["time"]["rests_on"] = "prior"
    prior = track_words(record(data))
    assert prior is not None and "a constant T lost 11 % [5, 18]; a race of 4 trainings" in prior
    assert track_words(record({**data, "track_record": None})) is None


def test_neighbours_safe_layouts_and_hopeless_ones_are_named(data: Data) -> None:
    assert others_words(record(data)) == (
        "T = 16 loses 6 % [0, 19]; safe too: T = 64 (an update takes 1.2 x as long); T <= 4 "
        "loses more than half."
    )
    data["safe_range"] = [[256, 8], [32, 64], [16, 128]]
    said = others_words(record(data))
    assert said is not None
    assert "safe too: T = 8, 64 and 128 (an update takes 0.56, 1.2 and 1.7 x as long)" in said
    data["safe_range"] = []
    data["layouts"] = data["layouts"][1:5]
    assert others_words(record(data)) == "T = 16 loses 6 % [0, 19]; T = 4 loses more than half."
    data["layouts"] = data["layouts"][-1:]
    assert others_words(record(data)) is None


def test_losses_of_an_answer_without_evidence_are_those_of_the_references(data: Data) -> None:
    said = others_words(record(made_up_advice.without_race(data)))
    assert said is not None and said.startswith("On the reference tasks T = 16 loses 6 %")


def test_a_loss_that_may_be_small_is_not_called_hopeless(data: Data) -> None:
    data["layouts"][0]["loss"]["low"] = 0.3
    words = others_words(record(data))
    assert words is not None and "more than half" not in words


def test_marks_are_those_of_the_layout(data: Data) -> None:
    own = record(data)
    found = {one.steps: marks(own, one) for one in own.layouts}
    assert found[32] == ["advised"] and found[64] == ["safe"] and found[128] == ["yours"]
    assert marks(own, OfLayout(envs=1, steps=32)) == []
    assert claimed_steps(own) == (2, 128)
    assert claimed_steps(record(made_up_advice.without_race(data))) == (2, 128)
