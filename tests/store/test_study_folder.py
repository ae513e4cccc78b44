"""The folder of a study: what is kept, what is cleared, and what is refused."""

from pathlib import Path

import pytest
from tests.store import kept

from nbyt.errors import StoreError
from nbyt.results import plain
from nbyt.store.files import EXPERIMENT, STUDY, STUDY_TRAINING
from nbyt.store.run import Folder, open_run, verify
from nbyt.store.text import slug


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder with everything in it."""
    found = open_run(tmp_path / "study", {"study": "post"}, "reproduce")
    found.write(EXPERIMENT, {"numbers": [1, 2]}, "visits")
    found.write(STUDY, kept.STUDY)
    open_run(found.path_of(STUDY_TRAINING, slug("CartPole-v1-16x128-0")), {"env": "x"})
    return found


def test_what_was_saved_comes_back(folder: Folder) -> None:
    assert folder.read(EXPERIMENT, "visits") == {"numbers": [1, 2]}
    assert folder.read(EXPERIMENT, "other") is None
    assert Folder(folder.path).has(STUDY) and plain(folder.require(STUDY)) == kept.STUDY


def test_another_study_is_refused_and_clears_with_force(folder: Folder) -> None:
    with pytest.raises(StoreError, match="other settings"):
        open_run(folder.path, {"study": "other"}, "reproduce")
    (folder.path / "notes.txt").write_text("mine")
    open_run(folder.path, {"study": "other"}, "reproduce", force=True)
    left = {entry.name for entry in folder.path.iterdir()}
    assert left == {"nbyt-run.json", "notes.txt", "trainings"}
    assert not any(folder.path_of(STUDY_TRAINING, slug("CartPole-v1-16x128-0")).iterdir())


@pytest.mark.parametrize("name", [STUDY.name, "experiment-visits.json"])
def test_the_doctor_finds_every_damaged_part(folder: Folder, name: str) -> None:
    assert verify(folder.path) == []
    file = folder.path / name
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    assert [line for line in verify(folder.path) if str(file) in line]


def test_a_folder_without_a_study_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no finished study"):
        plain(Folder(tmp_path).require(STUDY))
