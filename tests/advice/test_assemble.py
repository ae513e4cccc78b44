"""The data of an advice: what the answer rests on, and that nothing is said without it."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import convert
from tests.advice.races import made_up, planned

from nbyt.advice.assemble import AdviceInputs, _times_as_long, advice_data
from nbyt.advice.race import Evidence, Race
from nbyt.prior import load_prior
from nbyt.results.advice import Answers, LayoutLoss
from nbyt.results.advice import Race as RaceRecord

PRIOR = load_prior()


def inputs(race: Race, evidence: Evidence | None) -> AdviceInputs:
    costs = race.costs if race.request.objective == "time" else None
    return AdviceInputs(race.request, PRIOR, costs, evidence, (), {})


def test_a_race_decides_for_its_goal_and_the_prior_for_the_other() -> None:
    race = planned(current=4)
    data = advice_data(inputs(race, made_up(race, {4: 0.2, 16: 1.0})))
    answers = convert(data["advice"], Answers)
    assert answers.time.rests_on == "race" and answers.samples.rests_on == "prior"
    assert (answers.time.envs, answers.time.steps) == (4, 16)
    assert answers.samples.p_within_5 is None  # nothing was trained for it
    assert data["race"]["learnt"] and len(data["race"]["arms"]) == 2
    rows = [convert(row, LayoutLoss) for row in data["layouts"]]
    assert [row.trainings for row in rows] == [4, 4]
    assert [row.update_cost for row in rows] == pytest.approx([20 / 32, 1.0])


def test_without_a_race_the_usual_t_is_advised_with_what_it_lost() -> None:
    race = planned(trainings=0)
    data = advice_data(inputs(race, None))
    answer = convert(data["advice"], Answers).time
    known = inputs(race, None).known("time")
    assert answer.rests_on == "prior" and answer.steps == known.constant
    expected = known.expected(known.constant)
    assert answer.expected_loss.value == pytest.approx(expected.value)
    assert data["race"] is None and data["safe_range"] == []
    assert all(row["trainings"] == 0 for row in data["layouts"])


def test_where_nothing_was_learnt_nothing_is_ranked() -> None:
    race = planned()
    data = advice_data(inputs(race, made_up(race, {4: 0.0, 16: 0.0})))
    answer = convert(data["advice"], Answers).time
    assert answer.rests_on == "prior" and "Nothing learnt" in answer.sentence
    assert answer.p_within_5 is None and not convert(data["race"], RaceRecord).learnt


def test_for_the_same_samples_time_is_not_spoken_of() -> None:
    race = planned("samples")
    data = advice_data(inputs(race, made_up(race, {4: 0.2, 16: 1.0})))
    assert data["advice"]["time"] is None and data["costs_from"] is None
    assert data["advice"]["samples"]["rests_on"] == "race"
    assert all(row["update_cost"] is None for row in data["layouts"])


def test_an_interrupted_race_says_what_it_rests_on() -> None:
    race = planned()
    evidence = made_up(race, {4: 0.2, 16: 1.0})
    evidence.curves.popitem()
    evidence.interrupted = True
    warnings = advice_data(inputs(race, evidence))["warnings"]
    assert any("7 of 8 quarter trainings" in one for one in warnings)


def test_no_probability_below_the_trainings_at_which_it_came_true() -> None:
    race = planned()
    data = advice_data(inputs(race, made_up(race, {4: 0.2, 16: 1.0})))
    assert data["advice"]["time"]["p_within_5"] is None  # two trainings
    assert any("no probability" in one for one in data["warnings"])


def test_the_slower_layout_takes_longer_to_the_same_return() -> None:
    slow, fast = np.linspace(0, 1, 11), np.minimum(1.0, np.linspace(0, 2, 11))
    assert _times_as_long(slow, fast) == pytest.approx(2.0)
    assert _times_as_long(fast, slow) == pytest.approx(1.0)
    race = planned(current=4)
    data = advice_data(inputs(race, made_up(race, {4: 0.2, 16: 1.0})))
    assert data["current"]["speedup"]["low"] > 1
    assert "times as long" in data["current"]["sentence"]


def test_a_probability_is_stated_on_parallel_hardware_alone() -> None:
    for objective, stated in (("time", True), ("samples", False)):
        race = planned(objective)
        race = replace(race, schedule=race.schedule._replace(seeds=8))
        evidence = made_up(race, {4: 0.2, 16: 1.0})
        assert (evidence.judged().within is not None) is stated  # what the race says on its way
        data = advice_data(inputs(race, evidence))
        assert (data["advice"][objective]["p_within_5"] is not None) is stated
        assert all((row["within_5"] is not None) is stated for row in data["layouts"])
        assert stated or data["safe_range"] == []
