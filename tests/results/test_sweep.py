"""A sweep as a file: it comes back whole, and parts that contradict each other are refused."""

import json
from typing import Any

import pytest
from tests.results.reading import FILE, comes_back_whole
from tests.sweeps.made_up import curves_of, finished, grid_of

from nbyt.errors import StoreError
from nbyt.results import decode
from nbyt.results.sweep import CellCurve, Sweep
from nbyt.sweeps.cells import Cell


def test_lists_that_belong_together_have_one_length() -> None:
    facts = {"samples": [64, 128], "returns": [1.0], "unfinished": 0}
    with pytest.raises(StoreError, match="samples has 2, returns has 1"):
        decode(facts, CellCurve, FILE)


def _untied(facts: dict[str, Any]) -> None:
    facts["answer"]["per_sample"]["no_measurable_difference"] = True


def _open_with_ties(facts: dict[str, Any]) -> None:
    needed = {"seeds": 4, "sentence": "more"}
    facts["answer"]["per_sample"] |= {"to_settle": needed, "ties": [[8, 8]]}


def _without_seconds(facts: dict[str, Any]) -> None:
    facts["budget"] = None


def _half_timed(facts: dict[str, Any]) -> None:
    facts["layouts"][0]["per_second"] = None


def _without_a_pair(facts: dict[str, Any]) -> None:
    facts["wins"]["per_sample"][0][1] = None


SWEEPS = {
    "layouts that all tie have no to_settle": _untied,
    "to_settle is for layouts that all tie": _open_with_ties,
    "layouts per second without their seconds": _without_seconds,
    "a layout lacks a table's numbers": _half_timed,
    "a pair of layouts has no number": _without_a_pair,
}


@pytest.mark.parametrize("words", SWEEPS)
def test_parts_of_a_sweep_that_contradict_each_other_are_refused(words: str) -> None:
    grid = grid_of(seeds=2, steps=(4, 8))
    facts = json.loads(json.dumps(finished(grid, curves_of(grid))))
    facts["answer"]["per_sample"] |= {"no_measurable_difference": False, "to_settle": None}
    SWEEPS[words](facts)
    with pytest.raises(StoreError, match=words):
        decode(facts, Sweep, FILE)


def test_a_sweep_and_its_curves_come_back_whole() -> None:
    grid = grid_of(seeds=2, steps=(4, 8))
    curves = curves_of(grid)
    assert comes_back_whole(finished(grid, curves, [Cell(16, 4, 0)]), Sweep)
    facts = {"samples": [64, 128], "returns": [1.0, 2.5], "unfinished": 1, "training": [0.5, None]}
    assert comes_back_whole(facts, CellCurve)
