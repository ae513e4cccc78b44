"""The folder of an advice: what is kept, what is cleared, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from tests.store import kept

from nbyt.errors import StoreError
from nbyt.store.advice import ADVICE, AdviceFolder, read_advice
from nbyt.store.run import open_as, open_run, verify


@pytest.fixture
def folder(tmp_path: Path) -> AdviceFolder:
    """A folder with everything in it."""
    found = open_as(AdviceFolder, tmp_path / "advice", {"command": "advise"})
    found.save_costs(kept.COSTS)
    found.save_measurement(1, {"a": np.arange(3.0)}, kept.measurement())
    found.save_look(1, 32, kept.look())
    found.save_returns(4, 16, [1.0, None])
    found.write_advice(kept.advice())
    open_run(found.training(4, 16), {"env": "x"})
    return found


def test_what_was_saved_comes_back(folder: AdviceFolder) -> None:
    tensors, facts = folder.load_measurement(1)
    assert tensors["a"].tolist() == [0, 1, 2] and facts == kept.measurement()
    assert folder.load_costs().timed == ((8, 16, (0.1, 0.2)), (4, 32, (0.2, 0.3)))
    assert folder.load_returns(4, 16) == [1.0, None]
    assert folder.load_look(1, 32) == kept.look() and folder.load_look(1, 64) is None
    assert folder.load_measurement(2) is None
    assert read_advice(folder.path) == kept.advice()


def test_another_question_is_refused_and_clears_with_force(folder: AdviceFolder) -> None:
    with pytest.raises(StoreError, match="other settings"):
        open_as(AdviceFolder, folder.path, {"command": "other"})
    mine = folder.path / "notes.txt"
    mine.write_text("mine")
    open_as(AdviceFolder, folder.path, {"command": "other"}, force=True)
    left = {entry.name for entry in folder.path.iterdir()}
    assert left == {"nbyt-run.json", "notes.txt", "training-4x16"}
    assert not any((folder.path / "training-4x16").iterdir())


def test_a_damaged_advice_is_named(folder: AdviceFolder) -> None:
    file = folder.path / ADVICE
    file.write_bytes(file.read_bytes().replace(b"2048", b"2049"))
    with pytest.raises(StoreError, match="damaged"):
        read_advice(folder.path)


@pytest.mark.parametrize(
    "name", ["advice.json", "costs.json", "look-1-32.json", "measured-1/measurement.safetensors"]
)
def test_the_doctor_finds_every_damaged_part(folder: AdviceFolder, name: str) -> None:
    assert verify(folder.path) == []
    file = folder.path / name
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    assert [line for line in verify(folder.path) if str(file) in line]


def test_a_folder_without_advice_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no advice"):
        read_advice(tmp_path)


def test_a_measurement_that_is_a_link_is_not_followed(folder: AdviceFolder) -> None:
    folder.measured_path(2).symlink_to(folder.measured_path(1))
    with pytest.raises(StoreError, match="symlink"):
        folder.load_measurement(2)
