"""Law: the published result covers every printed field, from at least 1,000 pools of each case."""

import json
from dataclasses import fields
from typing import Any

import pytest
from benchmarks.calibration.cases import CASES
from benchmarks.calibration.report import DOCS, page
from benchmarks.calibration.run import RESULT
from benchmarks.calibration.truths import GRADIENTS, truths

from nbyt.stats.summary import GradientEstimates

BESIDES = ("explained_variance", "phase", "bias_sq_advantage", "bias_sq_phase", "across", "regret")


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return json.loads(RESULT.read_text())


def test_every_case_has_its_pools(result: dict[str, Any]) -> None:
    assert [case["name"] for case in result["cases"]] == [case.name for case in CASES]
    assert all(case["pools"] >= 1000 for case in result["cases"])


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_every_field_of_every_gradient_is_gated(result: dict[str, Any], gradient: str) -> None:
    gated = {
        gate["field"]
        for case in result["cases"]
        for gate in case["gates"]
        if gate["gradient"] == gradient and "hits" in gate
    }
    assert {field.name for field in fields(GradientEstimates)} <= gated
    assert {"rho_ratio", "rho_difference"} <= gated


@pytest.mark.parametrize("field", BESIDES)
def test_what_is_printed_besides_is_gated(result: dict[str, Any], field: str) -> None:
    gates = [gate for case in result["cases"] for gate in case["gates"] if gate["field"] == field]
    assert any("hits" in gate for gate in gates)


def test_the_truths_are_those_of_the_oracle_now(result: dict[str, Any]) -> None:
    case = next(case for case in CASES if case.name == "garnet")
    stored = next(one for one in result["cases"] if one["name"] == "garnet")
    now = truths(case)
    for gate in stored["gates"]:
        truth = now[gate["steps"], gate["gradient"], gate["field"]]
        assert gate.get("truth", truth) == pytest.approx(truth, rel=1e-6, abs=1e-12)


def test_the_published_page_is_written_from_the_result(result: dict[str, Any]) -> None:
    assert page(result) == (DOCS / "calibration.md").read_text()
