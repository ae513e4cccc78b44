"""From measurements to answers: weights of stages, and which of them decides."""

from dataclasses import replace

import pytest

from nbyt.advice.assemble import AdviceInputs
from nbyt.advice.request import effort, make_advice_request
from nbyt.advice.stages import Measured, measure, stage_to_measure
from nbyt.exact import frozenlake
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.store.run import open_run


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> AdviceInputs:
    """One policy of FrozenLake, measured once."""
    control = frozenlake("mid")
    request = make_advice_request(control.env, batch=64, effort=effort("quick"), steps=[4, 16])
    stage = stage_to_measure(FrozenStage(control.env, control.stage))
    folder = open_run(tmp_path_factory.mktemp("runs") / "advice", {}, "advise")
    return AdviceInputs(request, measure(request, [stage], folder, lambda *_: None), None)


def _copies(inputs: AdviceInputs, *stages: dict) -> list[Measured]:
    (known,) = inputs.measured
    return [
        replace(known, stage=replace(known.stage, name=f"stage {number}", **each))
        for number, each in enumerate(stages)
    ]


def test_trainings_have_equal_weights_however_many_stages_they_have(inputs) -> None:
    first, second = {"trained_with": (16, 4)}, {"trained_with": (4, 16)}
    measured = _copies(inputs, first, first, second)
    assert replace(inputs, measured=measured).weights() == [0.25, 0.25, 0.5]


def test_areas_are_weights_by_the_chosen_way(inputs) -> None:
    measured = _copies(
        inputs,
        {"areas": {"learning": 3.0, "samples": 1.0}},
        {"areas": {"learning": 1.0, "samples": 1.0}},
    )
    assert replace(inputs, measured=measured).weights() == [0.75, 0.25]
    assert replace(inputs, measured=measured, weigh="samples").weights() == [0.5, 0.5]


def test_the_stage_that_decides_has_the_largest_weight(inputs) -> None:
    areas = [{"areas": {"learning": area, "samples": 1.0}} for area in (1.0, 5.0, 2.0)]
    found = replace(inputs, measured=_copies(inputs, *areas))
    assert found.deciding().stage.name == "stage 1"


def test_estimates_are_those_of_the_measurement(inputs) -> None:
    (evidence,), record = inputs.evidence, inputs.measured[0].record
    for estimate, layout in zip(evidence.alignments, record.layouts, strict=True):
        expected = layout.actor.alignment
        assert (estimate.value, estimate.low, estimate.high) == (
            expected.value,
            expected.low,
            expected.high,
        )
    assert evidence.partner is not None and inputs.for_actor().evidence[0].partner is None


def test_without_costs_there_is_no_answer_per_second(inputs) -> None:
    per_sample, per_second = inputs.answers()
    assert per_second is None and {place.steps for place in per_sample.places} == {4, 16}
    seconds = inputs.stages()[0]["layouts"][0]["seconds"]
    assert seconds == {
        **dict.fromkeys(("value", "low", "high")),
        "reason": "costs were not measured",
    }
