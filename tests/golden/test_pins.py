"""What scripts and readers rely on stays: JSON keys, flags, pages, and folders of earlier versions.

`python -m tests.golden.pin` pins anew what was changed on purpose.
"""

import shutil
from pathlib import Path

import pytest
from tests.golden.cases import json_of, pins
from tests.golden.pinned import FOLDERS, HERE, differences, read

from nbyt.store.run import verify

PINS = dict(pins())
SHAPES = [name for name in PINS if name.startswith("shape-")]
OTHERS = [name for name in PINS if not name.startswith("shape-")]


@pytest.mark.parametrize("name", SHAPES)
def test_json_has_the_pinned_keys(name: str, tmp_path: Path) -> None:
    assert differences(read(name), PINS[name](tmp_path)) == []


@pytest.mark.parametrize("name", OTHERS)
def test_output_is_as_pinned(name: str, tmp_path: Path) -> None:
    assert PINS[name](tmp_path) == read(name)


def test_every_pin_is_compared() -> None:
    assert {path.stem for path in (HERE / "pins").iterdir()} == {*SHAPES, *OTHERS}


@pytest.mark.parametrize("folder", sorted(path.name for path in FOLDERS.iterdir()))
def test_folders_of_earlier_versions_are_whole(folder: str) -> None:
    found = [line for line in verify(FOLDERS / folder) if "nbyt-run.json is missing" not in line]
    assert found == []


def test_a_stopped_training_goes_on(tmp_path: Path) -> None:
    shutil.copytree(FOLDERS / "stopped", tmp_path / "run")
    command = "train tabular:FrozenLake-v1 --envs 4 --steps 8 --minibatch 16 --total 320 --stages 2"
    code, record = json_of(f"{command} --network table --out {tmp_path / 'run'}", tmp_path)
    assert code == 0 and record["data"]["updates"] == 10
    lines = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    assert len(lines) == 11
    assert lines[1:7] == (FOLDERS / "stopped" / "metrics.csv").read_text().splitlines()[1:]


def test_a_finished_sweep_is_not_trained_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(FOLDERS / "sweep", run)
    before = {path: path.stat().st_ino for path in run.glob("cell-*.json")}
    command = "sweep tabular:FrozenLake-v1 --batch 32 --layouts 4x8,8x4 --seeds 2 --total 128"
    code, record = json_of(f"{command} --minibatch 16 --network table --out {run}", tmp_path)
    assert code == 0 and record["data"]["cells"]["done"] == len(before) == 4
    assert before == {path: path.stat().st_ino for path in run.glob("cell-*.json")}
    assert (run / "table.csv").read_bytes() == (FOLDERS / "sweep" / "table.csv").read_bytes()
