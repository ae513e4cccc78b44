"""The folder of an advice: what is kept, what is cleared, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from tests.store import kept

from nbyt.errors import StoreError
from nbyt.results import plain
from nbyt.store.files import (
    ADVICE,
    CELL,
    COSTS,
    FAILED,
    LOOK,
    MEASUREMENT,
    TRAINING,
    UNTRAINED,
)
from nbyt.store.run import Folder, open_run, verify


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder with everything in it."""
    found = open_run(tmp_path / "advice", {"command": "advise"}, "advise")
    found.write(COSTS, kept.COSTS)
    found.write(MEASUREMENT, ({"a": np.arange(3.0)}, kept.measurement()), 1)
    found.write(LOOK, kept.look(), 1, 32)
    found.write(UNTRAINED, {"seeds": [3, 5], "returns": [1.0, -2.5]})
    found.write(CELL, kept.CURVE, "4x16-seed-3")
    found.write(FAILED, kept.FAILURE, "8x8-seed-3")
    found.write(ADVICE, kept.advice())
    open_run(found.path_of(TRAINING, 4, 16), {"env": "x"})
    return found


def test_what_was_saved_comes_back(folder: Folder) -> None:
    tensors, facts = folder.read(MEASUREMENT, 1)
    assert tensors["a"].tolist() == [0, 1, 2] and plain(facts) == kept.measurement()
    assert folder.read(COSTS).timed == ((8, 16, (0.1, 0.2)), (4, 32, (0.2, 0.3)))
    assert folder.read(UNTRAINED).returns == (1.0, -2.5)
    assert plain(folder.read(CELL, "4x16-seed-3")) == kept.CURVE
    assert plain(folder.read(FAILED, "8x8-seed-3")) == kept.FAILURE
    assert plain(folder.read(LOOK, 1, 32)) == kept.look() and folder.read(LOOK, 1, 64) is None
    assert folder.read(MEASUREMENT, 2) is None
    assert plain(folder.require(ADVICE)) == kept.advice()


def test_another_question_is_refused_and_clears_with_force(folder: Folder) -> None:
    with pytest.raises(StoreError, match="other settings"):
        open_run(folder.path, {"command": "other"}, "advise")
    mine = folder.path / "notes.txt"
    mine.write_text("mine")
    open_run(folder.path, {"command": "other"}, "advise", force=True)
    left = {entry.name for entry in folder.path.iterdir()}
    assert left == {"nbyt-run.json", "notes.txt", "training-4x16"}
    assert not any((folder.path / "training-4x16").iterdir())


def test_a_damaged_advice_is_named(folder: Folder) -> None:
    file = folder.path / ADVICE.name
    file.write_bytes(file.read_bytes().replace(b"2048", b"2049"))
    with pytest.raises(StoreError, match="damaged"):
        folder.require(ADVICE)


@pytest.mark.parametrize(
    "name",
    [
        "advice.json",
        "cell-4x16-seed-3.json",
        "costs.json",
        "failed-8x8-seed-3.json",
        "look-1-32.json",
        "measured-1/measurement.safetensors",
        "untrained.json",
    ],
)
def test_the_doctor_finds_every_damaged_part(folder: Folder, name: str) -> None:
    assert verify(folder.path) == []
    file = folder.path / name
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    assert [line for line in verify(folder.path) if str(file) in line]


def test_damaged_returns_of_untrained_policies_are_played_again(folder: Folder) -> None:
    file = folder.path_of(UNTRAINED)
    file.write_bytes(file.read_bytes().replace(b"-2.5", b"-3.5"))
    assert folder.read(UNTRAINED) is None


def test_a_folder_without_advice_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no advice"):
        Folder(tmp_path).require(ADVICE)


def test_a_measurement_that_is_a_link_is_not_followed(folder: Folder) -> None:
    folder.path_of(MEASUREMENT, 2).symlink_to(folder.path_of(MEASUREMENT, 1))
    with pytest.raises(StoreError, match="symlink"):
        folder.read(MEASUREMENT, 2)
