"""The folder of a study: what is kept, what is cleared, and what is refused."""

from pathlib import Path

import pytest
from tests.store import kept

from nbyt.errors import StoreError
from nbyt.store.run import open_as, open_run, verify
from nbyt.store.study import STUDY, StudyFolder, holds_study, read_study


@pytest.fixture
def folder(tmp_path: Path) -> StudyFolder:
    """A folder with everything in it."""
    found = open_as(StudyFolder, tmp_path / "study", {"study": "post"})
    found.save_experiment("visits", {"numbers": [1, 2]})
    found.write_study(kept.STUDY)
    open_run(found.training("CartPole-v1-16x128-0"), {"env": "x"})
    return found


def test_what_was_saved_comes_back(folder: StudyFolder) -> None:
    assert folder.load_experiment("visits") == {"numbers": [1, 2]}
    assert folder.load_experiment("other") is None
    assert holds_study(folder.path) and read_study(folder.path) == kept.STUDY


def test_another_study_is_refused_and_clears_with_force(folder: StudyFolder) -> None:
    with pytest.raises(StoreError, match="other settings"):
        open_as(StudyFolder, folder.path, {"study": "other"})
    (folder.path / "notes.txt").write_text("mine")
    open_as(StudyFolder, folder.path, {"study": "other"}, force=True)
    left = {entry.name for entry in folder.path.iterdir()}
    assert left == {"nbyt-run.json", "notes.txt", "trainings"}
    assert not any(folder.training("CartPole-v1-16x128-0").iterdir())


@pytest.mark.parametrize("name", [STUDY, "experiment-visits.json"])
def test_the_doctor_finds_every_damaged_part(folder: StudyFolder, name: str) -> None:
    assert verify(folder.path) == []
    file = folder.path / name
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    assert [line for line in verify(folder.path) if str(file) in line]


def test_a_folder_without_a_study_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no finished study"):
        read_study(tmp_path)
