"""Law: the published soak tried every command, at moments that matter, and lost nothing."""

import json

import pytest
from benchmarks.soak.cases import CASES
from benchmarks.soak.kills import ORPHAN_SECONDS
from benchmarks.soak.report import EVERY_KEY, page
from benchmarks.soak.run import RESULT, faults

FOUND = json.loads(RESULT.read_text())
# Kills by SIGKILL of each command, half of them at a file operation.
ENOUGH = 20


def test_nothing_was_lost() -> None:
    assert faults(FOUND) == faults(json.loads(EVERY_KEY.read_text())) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_command_was_killed_at_moments_that_matter(case) -> None:
    (found,) = [one for one in FOUND["kills"]["cases"] if one["name"] == case.name]
    assert found["command"] == f"nbyt {case.words}" and found["finished"] >= 1
    assert found["kills"]["kill -9"] + found["kills"]["file operation"] >= ENOUGH
    assert found["kills"]["SIGTERM"] >= 1 and found["kills"]["Ctrl-C"] >= 1
    assert found["longest_orphan_seconds"] < ORPHAN_SECONDS
    # Not all before the first file was there, nor all after the last.
    assert len({strike["files"] for strike in found["strikes"]}) >= 3


def test_a_fault_would_be_said() -> None:
    case = {**FOUND["kills"]["cases"][0], "faults": ["left behind: x.tmp"]}
    bad = {**FOUND, "kills": {**FOUND["kills"], "cases": [case]}}
    assert faults(bad) == ["left behind: x.tmp"]
    said = page(bad)
    assert "1 FAULTS" in said and "- left behind: x.tmp" in said and "nothing.**" not in said
    assert "nothing.**" in page(FOUND)
