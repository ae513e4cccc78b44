"""What real libraries were seen to do is still what `explain` says."""

import json
from typing import Any

import pytest
from benchmarks.dialects.counted import Counted, compared, said
from benchmarks.dialects.run import FEWEST, RESULT

from nbyt.dialects import explain, load

FOUND = json.loads(RESULT.read_text())


@pytest.mark.parametrize("library", FOUND["versions"])
def test_explain_says_what_was_counted(library) -> None:
    rows = [row for row in FOUND["rows"] if row["library"] == library]
    assert len(rows) >= 10
    for row in rows:
        assert said(library, row["settings"]) == row["seen"], row["settings"]


def test_enough_libraries_were_run_in_the_versions_that_were_read() -> None:
    assert len(FOUND["versions"]) >= FEWEST and "sb3" in FOUND["versions"]
    for library, version in FOUND["versions"].items():
        assert load(library).version == version


def test_settings_with_a_rest_are_among_them() -> None:
    for library in FOUND["versions"]:
        rows = [row for row in FOUND["rows"] if row["library"] == library]
        assert any(has_a_rest(library, row) for row in rows)


def has_a_rest(library: str, row: dict[str, Any]) -> bool:
    """Whether a setting is refused, has mini-batches of several sizes, or leaves samples out."""
    found = explain(library, **row["settings"])
    several = len(row["seen"]["sizes_of_an_update"]) > 1
    return row["seen"]["refused"] or several or found.schedule["left_out_per_epoch"] > 0


def test_a_wrong_count_would_differ() -> None:
    settings = {"n_envs": 1, "n_steps": 6, "batch_size": 4, "n_epochs": 1, "total_timesteps": 6}
    assert compared("sb3", settings, Counted([[4, 2]], 2)).agrees
    assert not compared("sb3", settings, Counted([[2, 4]], 2)).agrees
    assert not compared("sb3", settings, Counted([[4, 2]], 3)).agrees
    assert not compared("sb3", settings, Counted([[4, 2], [4, 2]], 4)).agrees
    assert not compared("sb3", settings, Counted(refusal="no")).agrees
