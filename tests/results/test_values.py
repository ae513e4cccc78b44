"""Laws of the door: what nbyt wrote comes back, and what it cannot have written is named."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.pages.probes.probes_sample import head, training
from tests.report.pages.study.study_sample import study
from tests.store import kept
from tests.sweep.made_up import curves_of, finished, grid_of

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.advice import Advice, Costs
from nbyt.results.measurement import Look, Measurement
from nbyt.results.probes import ProbeLog, ProbeRecord
from nbyt.results.study import Study
from nbyt.results.sweep import CellCurve, Sweep
from nbyt.results.training import Result, StageFacts
from nbyt.sweep.cells import Cell

ROOT = Path(__file__).parents[2]
FILE = Path("a-file.json")


def _sweep() -> dict[str, Any]:
    grid = grid_of(seeds=2, steps=(4, 8))
    return finished(grid, curves_of(grid), [Cell(16, 4, 0)])


EXAMPLES = {
    "advice": (Advice, kept.advice),
    "measurement": (Measurement, kept.measurement),
    "look": (Look, kept.look),
    "sweep": (Sweep, _sweep),
    "study": (Study, study),
    "probes": (ProbeLog, head),
    "record": (ProbeRecord, lambda: training(1)["records"][0]),
    "result": (Result, lambda: kept.RESULT),
    "stage": (StageFacts, kept.stage),
    "costs": (Costs, lambda: kept.COSTS),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_record_comes_back_whole(name: str) -> None:
    kind, made = EXAMPLES[name]
    facts = json.loads(json.dumps(made()))
    assert plain(decode(facts, kind, FILE)) == facts


@pytest.mark.parametrize("name", ["post", "replay"])
def test_a_published_study_is_read_whole(name: str) -> None:
    facts = json.loads((ROOT / "docs" / name / "study.json").read_text())
    assert plain(decode(facts, Study, FILE)) == facts


def test_keys_of_later_versions_are_passed_over() -> None:
    assert plain(decode({**kept.COSTS, "later": 1}, Costs, FILE)) == kept.COSTS


COSTS: dict[str, tuple[Any, str]] = {
    "missing": ({}, "timed is missing"),
    "null": ({"timed": None}, "timed: expected a list, got null"),
    "empty": ({"timed": []}, "timed: expected a list of length >= 1"),
    "short": ({"timed": [[8, 16]]}, "timed[0]: expected a list of length 3"),
    "text": ({"timed": [[8, "x", [1.0, 2.0]]]}, "timed[0][1]: expected a whole number, got text"),
    "flag": ({"timed": [[True, 1, [1.0, 2.0]]]}, "timed[0][0]: expected a whole number, got true"),
    "zero": ({"timed": [[8, 0, [1.0, 2.0]]]}, "timed[0][1]: expected a whole number >= 1"),
    "huge": ({"timed": [[8, 16, [1.0, 1e308]]]}, "timed[0][2][1]: expected a number <= 1"),
    "twice": ({"timed": [[8, 16, [1.0, 2.0]]] * 2}, "a layout was timed twice"),
    "ragged": (
        {"timed": [[8, 16, [1.0, 2.0]], [4, 32, [1.0, 2.0, 3.0]]]},
        "layouts were timed in different numbers of rounds",
    ),
    "deep": ({"timed": [[[[[[[]]]]]]]}, "timed[0]"),
    "no object": ([], "expected an object, got a list"),
}


@pytest.mark.parametrize("name", COSTS)
def test_a_wrong_key_is_named(name: str) -> None:
    facts, words = COSTS[name]
    with pytest.raises(StoreError) as caught:
        decode(facts, Costs, FILE)
    message = caught.value.message
    assert message.startswith("a-file.json is not what nbyt writes: ") and words in message.lower()
    assert caught.value.exit_code == 2 and caught.value.fix


def test_lists_that_belong_together_have_one_length() -> None:
    facts = {"samples": [64, 128], "returns": [1.0], "unfinished": 0}
    with pytest.raises(StoreError, match="samples has 2, returns has 1"):
        decode(facts, CellCurve, FILE)


@pytest.mark.parametrize("value", [None, "x", [], 1e308, -1.0, True])
def test_a_wrong_reward_scale_or_settings_are_named(value: Any) -> None:
    for key in ("reward_scale", "settings"):
        if (key, value) == ("reward_scale", None):
            continue
        with pytest.raises(StoreError, match=f"writes: {key}"):
            decode({**kept.stage(), key: value}, StageFacts, FILE)


def test_a_ranking_of_other_layouts_is_refused() -> None:
    facts = kept.advice()
    facts["stages"][0]["ranking"]["critic"].pop()
    with pytest.raises(StoreError, match=r"stages\[0\]: a ranking has other layouts"):
        decode(facts, Advice, FILE)


def test_lags_that_only_one_objective_has_are_refused() -> None:
    facts = kept.advice()
    del facts["stages"][0]["lags"]["critic"]["within"]["128"]
    with pytest.raises(StoreError, match=r"stages\[0\]\.lags: objectives have different lags"):
        decode(facts, Advice, FILE)


def _untied(facts: dict[str, Any]) -> None:
    facts["answer"]["per_sample"]["no_measurable_difference"] = True


def _without_seconds(facts: dict[str, Any]) -> None:
    facts["budget"] = None


def _half_timed(facts: dict[str, Any]) -> None:
    facts["layouts"][0]["per_second"] = None


def _without_a_pair(facts: dict[str, Any]) -> None:
    facts["wins"]["per_sample"][0][1] = None


SWEEPS = {
    "to_settle is for layouts that all tie": _untied,
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


def test_an_axis_of_lines_says_whether_it_is_logarithmic() -> None:
    facts = json.loads((ROOT / "tests/golden/folders/study/study.json").read_text())["facts"]
    axes = [axis for axis in _axes(facts) if "log" in axis]
    assert axes
    for axis in axes:
        log = axis.pop("log")
        with pytest.raises(StoreError, match="log"):
            decode(facts, Study, FILE)
        axis["log"] = log
    decode(facts, Study, FILE)


def _axes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield the axes of all figures with lines or points."""
    if isinstance(tree, dict) and tree.get("kind") in ("lines", "points"):
        yield from (tree["x"], tree["y"])
    for value in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(value, dict | list):
            yield from _axes(value)
