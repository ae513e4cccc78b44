"""`nbyt report`: pages of a probed training and of a sweep, their JSON, refusals."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.report.pages.probes.probes_sample import head, training

from nbyt.cli import main
from nbyt.store.files import PROBES
from nbyt.store.run import Folder, add_record, open_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A training that was probed three times."""
    found = open_run(tmp_path / "probes", head(), "probe a training")
    found.write(PROBES, head())
    for record in training(3)["records"]:
        add_record(found, record)
    return found.path


def test_the_page_is_made_and_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["report", str(folder), "--json"]) == 0
    page = folder / "report.html"
    data = json.loads(capsys.readouterr().out)["data"]
    assert data == {"report": str(page), "env": "CartPole-v1", "probes": 3}
    assert "PPO on CartPole-v1" in page.read_text()


def test_a_loop_that_did_not_name_its_env(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = open_run(tmp_path / "loop", {"title": "a loop"}, "probe a training")
    found.write(PROBES, {"title": "a loop", "library": "torch"})
    assert main.run(["report", str(found.path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["env"], data["probes"]) == (None, 0)


def test_it_needs_no_jax_and_takes_another_file(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    script = (
        "import sys; from nbyt.cli import main; "
        f"code = main.run(['report', {str(folder)!r}, '--out', {str(page)!r}]); "
        "assert 'jax' not in sys.modules, 'JAX was imported'; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert page.exists() and not (folder / "report.html").exists()


def test_a_damaged_record_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = folder / "record-000020.json"
    record.write_bytes(record.read_bytes().replace(b'"samples": 40960', b'"samples": 40961'))
    assert main.run(["report", str(folder)]) != 0
    said = capsys.readouterr().err
    assert "record-000020.json" in said.replace("\n", "") and "Traceback" not in said
    assert not (folder / "report.html").exists()


def test_the_page_of_a_sweep_is_rebuilt(swept: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["report", str(swept.path), "--json"]) == 0
    page = swept.path / "report.html"
    data = json.loads(capsys.readouterr().out)["data"]
    assert data == {
        "report": str(page),
        "env": "tabular:FrozenLake-v1",
        "batch": 64,
        "cells": {"done": 8, "failed": 0, "total": 8},
    }
    assert "What every layout reached" in page.read_text()


def test_a_damaged_sweep_has_no_page(swept: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    path = swept.path / "sweep.json"
    path.write_bytes(path.read_bytes().replace(b'"total": 3000', b'"total": 3001'))
    assert main.run(["report", str(swept.path)]) == 2
    said = capsys.readouterr().err
    assert "sweep.json" in said.replace("\n", "") and "Traceback" not in said
    assert not (swept.path / "report.html").exists()


def test_a_folder_that_is_not_there_is_not_said_to_be_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for name, words in (("nowhere", "does not exist"), ("file", "is not a folder")):
        assert main.run(["report", str(tmp_path / name)]) == 2
        said = capsys.readouterr().err
        assert words in " ".join(said.split()) and "fix:" in said and "nbyt advise" in said
