"""`nbyt report` and `nbyt doctor` on the folder of a sweep: its page, and its damaged cells."""

import json
from pathlib import Path

import pytest
from tests.sweep.made_up import curves_of, finished, grid_of

from nbyt.cli import main
from nbyt.store.files import CELL, SWEEP
from nbyt.store.run import Folder, open_run


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A sweep of two layouts that came to its end."""
    grid = grid_of(4, (4, 8))
    found = open_run(tmp_path / "sweep", grid.identity(), "sweep")
    curves = curves_of(grid)
    for cell, curve in curves.items():
        found.write(CELL, curve.as_dict(), cell.name)
    found.write(SWEEP, finished(grid, curves))
    return found


def test_the_page_is_made_anew(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["report", str(folder.path), "--json"]) == 0
    page = folder.path / "report.html"
    data = json.loads(capsys.readouterr().out)["data"]
    assert data == {
        "report": str(page),
        "env": "tabular:FrozenLake-v1",
        "batch": 64,
        "cells": {"done": 8, "failed": 0, "total": 8},
    }
    assert "What every layout reached" in page.read_text()


def test_a_damaged_sweep_has_no_page(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder.path / "sweep.json"
    path.write_bytes(path.read_bytes().replace(b'"total": 3000', b'"total": 3001'))
    assert main.run(["report", str(folder.path)]) == 2
    said = capsys.readouterr().err
    assert "sweep.json" in said.replace("\n", "") and "Traceback" not in said
    assert not (folder.path / "report.html").exists()


def test_the_doctor_names_damaged_cells_and_no_others(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["doctor", "--dir", str(folder.path), "--json"]) == 0
    capsys.readouterr()
    for name in ("16x4-seed-1", "8x8-seed-3"):
        path = folder.path / f"cell-{name}.json"
        text = path.read_bytes()
        path.write_bytes(text[: len(text) // 2])
    assert main.run(["doctor", "--dir", str(folder.path), "--json"]) == 1
    said = capsys.readouterr().out
    assert "cell-16x4-seed-1.json" in said and "cell-8x8-seed-3.json" in said
    assert said.count("cell-") == 2
