"""A study as a file: made up, published and pinned ones come back whole."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.pages.study.study_sample import study
from tests.results.reading import FILE, comes_back_whole

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.study import Study

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["post", "replay"])
def test_a_published_study_is_read_whole(name: str) -> None:
    facts = json.loads((ROOT / "docs" / name / "study.json").read_text())
    assert plain(decode(facts, Study, FILE)) == facts


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


def test_a_study_with_every_kind_of_part_comes_back_whole() -> None:
    assert comes_back_whole(study(), Study)
