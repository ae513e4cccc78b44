"""Law: what the soak found is what is promised of a sweep whose driver is killed."""

import json

from benchmarks.sweep.soak import ORPHANS, RESULT


def test_twenty_kills_left_everything_intact() -> None:
    found = json.loads(RESULT.read_text())
    assert found["kills"] == len(found["struck"]) >= 20
    assert all(one["intact"] and one["orphan_seconds"] < ORPHANS for one in found["struck"])
    # At moments that matter: before the first cell, and among all the others.
    assert len({one["cells"] for one in found["struck"]}) >= 5
    assert found["ended"] == 0 and found["same_table"]
