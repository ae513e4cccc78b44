"""Every library is counted in the real thing, or its file says why not."""

import json
from datetime import date
from pathlib import Path

import pytest

from nbyt.dialects.dialect import Dialect, every, names

ROOT = Path(__file__).parents[2]
RESULT = json.loads((ROOT / "benchmarks" / "dialects" / "result.json").read_text())
LEAST_SETTINGS, LEAST_LIBRARIES = 12, 8

each = pytest.mark.parametrize("dialect", every(), ids=names())


@each
def test_a_library_is_counted_or_says_why_not(dialect: Dialect) -> None:
    rows = [row for row in RESULT["rows"] if row["library"] == dialect.id]
    if dialect.live == "counted":
        assert len(rows) >= LEAST_SETTINGS and all(row["agrees"] for row in rows)
    else:
        assert not rows and len(dialect.live.split()) >= 4, "say why it is not counted"


@each
def test_a_file_says_when_its_library_was_read(dialect: Dialect) -> None:
    assert date.fromisoformat(dialect.read_on) >= date(2026, 11, 1)


def test_enough_libraries_are_counted_and_the_page_says_so() -> None:
    counted = [one for one in every() if one.live == "counted"]
    assert len(counted) >= LEAST_LIBRARIES
    page = (ROOT / "docs" / "dialects-live.md").read_text()
    for one in every():
        assert f"| {one.id} | {one.library} | {one.version} | {one.read_on} | {one.live} |" in page


def test_a_version_that_is_counted_is_the_one_that_was_read() -> None:
    for one in every():
        if one.live == "counted":
            assert one.version in RESULT["versions"][one.id]
