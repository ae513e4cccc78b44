"""The record of an advice: what the answer rests on, and that nothing is said without it."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.advice.races import made_up, planned

from nbyt.advice.assemble import AdviceInputs, Provenance, advice_record
from nbyt.advice.race import Evidence, Race
from nbyt.results.advice import Advice, Cost
from nbyt.stats.prior import load_prior

PRIOR = load_prior()


def inputs(race: Race, evidence: Evidence | None) -> AdviceInputs:
    costs = race.costs if race.request.objective == "time" else None
    return AdviceInputs(race.request, PRIOR, costs, evidence, (), {})


def assembled(race: Race, evidence: Evidence | None) -> Advice:
    made = Provenance(Cost(trainings=0, samples=0, seconds=0), "nbyt advise", Path("out"))
    return advice_record(inputs(race, evidence), made)


def test_a_race_decides_for_its_goal_and_the_prior_for_the_other() -> None:
    race = planned(current=4)
    record = assembled(race, made_up(race, {4: 0.2, 16: 1.0}))
    answers = record.advice
    assert answers.time.rests_on == "race" and answers.samples.rests_on == "prior"
    assert (answers.time.envs, answers.time.steps) == (4, 16)
    assert answers.samples.p_within_5 is None  # nothing was trained for it
    assert record.race.learnt and len(record.race.arms) == 2
    assert [row.trainings for row in record.layouts] == [4, 4]
    assert [row.update_cost for row in record.layouts] == pytest.approx([20 / 32, 1.0])


def test_without_a_race_the_usual_t_is_advised_with_what_it_lost() -> None:
    race = planned(trainings=0)
    record = assembled(race, None)
    answer = record.advice.time
    known = inputs(race, None).known("time")
    assert answer.rests_on == "prior" and answer.steps == known.constant
    expected = known.expected(known.constant)
    assert answer.expected_loss.value == pytest.approx(expected.value)
    assert record.race is None and record.safe_range == ()
    assert all(row.trainings == 0 for row in record.layouts)


def test_where_nothing_was_learnt_nothing_is_ranked() -> None:
    race = planned()
    record = assembled(race, made_up(race, {4: 0.0, 16: 0.0}))
    answer = record.advice.time
    assert answer.rests_on == "prior" and "Nothing learnt" in answer.sentence
    assert answer.p_within_5 is None and not record.race.learnt


def test_where_hardly_anything_was_learnt_the_best_so_far_is_a_guess() -> None:
    race = planned()
    evidence = made_up(race, {4: 0.02, 16: 0.0})
    unusual = next(t for t in (4, 16) if t != race.known.constant)
    for cell, curve in evidence.curves.items():
        level = 0.3 * (cell.steps == unusual) * (cell.seed == race.seeds[0])
        evidence.curves[cell] = curve._replace(returns=tuple(level for _ in curve.returns))
    record = assembled(race, evidence)
    answer = record.advice.time
    assert not record.race.learnt and record.safe_range == ()
    assert (answer.steps, answer.rests_on) == (unusual, "race")
    assert "hardly more than a guess" in answer.sentence and answer.p_within_5 is None
    assert not any("least on average" in one for one in answer.reasons)


def test_for_the_same_samples_time_is_not_spoken_of() -> None:
    race = planned("samples")
    record = assembled(race, made_up(race, {4: 0.2, 16: 1.0}))
    assert record.advice.time is None and record.costs_from is None
    assert record.advice.samples.rests_on == "race"
    assert all(row.update_cost is None for row in record.layouts)


def test_an_interrupted_race_says_what_it_rests_on() -> None:
    race = planned()
    evidence = made_up(race, {4: 0.2, 16: 1.0})
    evidence.curves.popitem()
    evidence.interrupted = True
    warnings = assembled(race, evidence).warnings
    assert any("7 of 8 quarter trainings" in one for one in warnings)


def test_no_probability_below_the_trainings_at_which_it_came_true() -> None:
    race = planned()
    record = assembled(race, made_up(race, {4: 0.2, 16: 1.0}))
    assert record.advice.time.p_within_5 is None  # two trainings
    assert any("no probability" in one for one in record.warnings)


def test_the_slower_layout_takes_longer_to_the_same_return() -> None:
    race = planned(current=4)
    record = assembled(race, made_up(race, {4: 0.2, 16: 1.0}))
    assert record.current.speedup.low > 1
    assert "times as long" in record.current.sentence


def test_a_probability_is_stated_on_parallel_hardware_alone() -> None:
    for objective, stated in (("time", True), ("samples", False)):
        race = planned(objective)
        race = replace(race, schedule=race.schedule._replace(seeds=8))
        evidence = made_up(race, {4: 0.2, 16: 1.0})
        assert (evidence.judged().within is not None) is stated  # what the race says on its way
        record = assembled(race, evidence)
        assert (record.advice.of(objective).p_within_5 is not None) is stated
        assert all((row.within_5 is not None) is stated for row in record.layouts)
        assert stated or record.safe_range == ()
