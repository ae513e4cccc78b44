"""`nbyt doctor` on this machine, and `nbyt doctor --dir` on the folder of a sweep."""

import json

import pytest

from nbyt import __version__
from nbyt.cli import main
from nbyt.cli.tested import CONSTRAINTS_REFRESHED
from nbyt.store.run import Folder


def test_the_doctor_names_damaged_cells_and_no_others(
    swept: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["doctor", "--dir", str(swept.path), "--json"]) == 0
    capsys.readouterr()
    for name in ("16x4-seed-1", "8x8-seed-3"):
        path = swept.path / f"cell-{name}.json"
        text = path.read_bytes()
        path.write_bytes(text[: len(text) // 2])
    assert main.run(["doctor", "--dir", str(swept.path), "--json"]) == 1
    said = capsys.readouterr().out
    assert "cell-16x4-seed-1.json" in said and "cell-8x8-seed-3.json" in said
    assert said.count("cell-") == 2


def test_the_doctor_says_what_this_is_and_that_it_computes_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.run(["doctor", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["versions"]["nbyt"] == __version__
    assert data["constraints_refreshed"] == CONSTRAINTS_REFRESHED
    assert data["control"]["agrees"]
