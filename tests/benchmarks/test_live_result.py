"""Law: the published coverage of single batches is of enough of them, and held to the truth."""

import json
from dataclasses import fields

import pytest
from benchmarks.live.cases import CONTROLS, GRADIENTS, LAYOUTS, cases, truths
from benchmarks.live.section import ENOUGH, RESULT

from nbyt.stats.summary import BatchEstimates

FOUND = json.loads(RESULT.read_text())["cases"]
FIELDS = {field.name for field in fields(BatchEstimates)}


def test_every_layout_of_every_problem_has_its_batches() -> None:
    named = [(one["control"], one["envs"], one["steps"]) for one in FOUND]
    assert named == [(name, at.envs, at.steps) for name in CONTROLS for at in LAYOUTS]
    assert all(one["batches"] >= 1000 for one in FOUND)


def test_every_field_of_both_gradients_is_held_to_the_truth_that_the_oracle_says_now() -> None:
    for case, one in zip(cases(), FOUND, strict=True):
        if case.name != "garnet" and case.layout != LAYOUTS[0]:
            continue  # the oracle takes a second for each
        known = truths(case)
        assert {(g["gradient"], g["field"]) for g in one["gates"]} == set(known)
        assert {field for _, field in known} == FIELDS
        for gate in one["gates"]:
            truth = known[gate["gradient"], gate["field"]]
            said = gate["skipped"] if isinstance(truth, str) else gate["truth"]
            assert said == (truth if isinstance(truth, str) else pytest.approx(truth, rel=1e-6))


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_what_is_not_marked_as_approximate_is_no_clear_miss(gradient: str) -> None:
    plain = [
        gate
        for one in FOUND
        for gate in one["gates"]
        if gate["gradient"] == gradient and gate.get("determined") and gate["flagged"] < 0.5
    ]
    assert plain
    assert min(gate["coverage"] for gate in plain) > 0.92


def test_pieces_and_few_units_are_always_marked() -> None:
    rough = [one for one in FOUND if one["units"] < ENOUGH or one["unit_steps"] < one["steps"]]
    gates = [gate for one in rough for gate in one["gates"] if gate.get("determined")]
    assert len(rough) == 8 and all(gate["flagged"] == 1.0 for gate in gates)
