"""The folder of a probed training: what is kept, in which order, and what is refused."""

import os
import shutil
from pathlib import Path

import pytest
from tests.store import kept

from nbyt.errors import StoreError
from nbyt.results import plain
from nbyt.store.files import PROBES
from nbyt.store.run import Folder, add_record, open_run, read_probes, verify

HEAD = {"title": "PPO on CartPole-v1", "library": "torch", "env": "CartPole-v1", "every": 10}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder with records whose names are not in the order of their updates."""
    found = open_run(tmp_path / "probes", HEAD, "probe a training")
    found.write(PROBES, HEAD)
    for update in (10, 20, 999_999, 1_000_000):
        add_record(found, kept.record(update, 2048 * update))
    return found


def test_records_come_back_in_order_of_their_update(folder: Folder) -> None:
    data = plain(read_probes(folder.path))
    assert {key: data[key] for key in HEAD} == HEAD
    assert [one["update"] for one in data["records"]] == [10, 20, 999_999, 1_000_000]
    assert (folder.path / "record-000010.json").is_file()


def test_a_training_that_went_back_leaves_no_record_of_its_former_way(folder: Folder) -> None:
    add_record(folder, kept.record(20, 7))
    first, second = plain(read_probes(folder.path))["records"]
    assert first["update"] == 10 and (second["update"], second["samples"]) == (20, 7)


def test_a_training_without_records_is_one_all_the_same(tmp_path: Path) -> None:
    folder = open_run(tmp_path / "new", HEAD, "probe a training")
    assert not Folder(folder.path).has(PROBES)
    folder.write(PROBES, HEAD)
    assert Folder(folder.path).has(PROBES)
    assert plain(read_probes(folder.path)) == {**HEAD, "records": []}


def test_the_same_training_goes_on_and_another_is_refused(folder: Folder) -> None:
    again = open_run(folder.path, HEAD, "probe a training")
    assert len(plain(read_probes(again.path))["records"]) == 4
    with pytest.raises(StoreError, match="other settings"):
        open_run(folder.path, {**HEAD, "every": 5}, "probe a training")


def test_force_clears_what_is_ours_alone(folder: Folder) -> None:
    (folder.path / "report.html").write_text("page")
    for name in ("notes.txt", "record-mine.json", "record-0000010.json"):
        (folder.path / name).write_text("mine")
    open_run(folder.path, {**HEAD, "every": 5}, "probe a training", force=True)
    left = {entry.name for entry in folder.path.iterdir()}
    assert left == {"nbyt-run.json", "notes.txt", "record-mine.json", "record-0000010.json"}


@pytest.mark.parametrize("name", [PROBES.name, "record-000020.json"])
def test_a_damaged_part_is_named_by_reader_and_doctor(folder: Folder, name: str) -> None:
    assert verify(folder.path) == []
    file = folder.path / name
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    with pytest.raises(StoreError, match=name):
        read_probes(folder.path)
    assert [line for line in verify(folder.path) if str(file) in line]


def test_a_record_under_another_name_is_refused(folder: Folder) -> None:
    shutil.copy(folder.path / "record-000010.json", folder.path / "record-000030.json")
    with pytest.raises(StoreError, match=r"record-000030\.json holds the record of update 10"):
        read_probes(folder.path)


@pytest.mark.skipif(os.name == "nt", reason="symlinks need rights there")
@pytest.mark.parametrize("name", [PROBES.name, "record-000010.json"])
def test_links_are_not_followed(folder: Folder, tmp_path: Path, name: str) -> None:
    (folder.path / name).rename(tmp_path / "elsewhere.json")
    (folder.path / name).symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(StoreError, match="is a symlink"):
        read_probes(folder.path)


@pytest.mark.parametrize(
    ("name", "words"), [("empty", "holds no probed training"), ("missing", "does not exist")]
)
def test_a_folder_without_a_training_says_what_to_give(
    tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match=words):
        read_probes(tmp_path / name)
