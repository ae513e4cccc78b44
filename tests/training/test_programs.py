"""Kept programs: damaged ones are removed, and processes may share a folder."""

import logging
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nbyt.training.programs import ProgramCache


@pytest.fixture(autouse=True)
def _not_quiet(caplog: pytest.LogCaptureFixture) -> None:
    """A command that was quiet in this process leaves the logger so."""
    caplog.set_level(logging.WARNING, logger="nbyt")


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _one_bit_flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def _another_program(path: Path) -> None:
    shutil.copyfile(path.with_name("other.program"), path)


def _a_folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def _a_link(path: Path) -> None:
    moved = path.rename(path.with_name("elsewhere"))
    path.symlink_to(moved)


def _a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _unreadable(path: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("root can read everything")
    path.chmod(0)


DAMAGES = [_cut_short, _emptied, _one_bit_flipped, _another_program, _a_folder]
DAMAGES += [_a_link, _a_fifo, _unreadable] if hasattr(os, "mkfifo") else []


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_programs_are_removed_once_in_one_line(tmp_path: Path, caplog, damage) -> None:
    cache = ProgramCache(tmp_path)
    for key in ("one", "two", "other"):
        cache.put(key, key.encode() * 1000)
    for key in ("one", "two"):
        damage(tmp_path / f"{key}.program")
    assert cache.get("one") is None and cache.get("two") is None
    assert [record.getMessage() for record in caplog.records] == [
        f"2 damaged compiled programs were removed from {tmp_path}"
    ]
    assert cache.get("other") == b"other" * 1000
    cache.put("one", b"compiled again")
    assert cache.get("one") == b"compiled again" and len(caplog.records) == 1


def test_processes_that_keep_the_same_program_never_see_half_of_it(tmp_path: Path, caplog) -> None:
    program = os.urandom(2**20)

    def kept(_: int) -> bytes | None:
        cache = ProgramCache(tmp_path)
        cache.put("same", program)
        return cache.get("same")

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(kept, range(16))) == {program}
    assert not caplog.records


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_a_full_disk_is_said_once_and_leaves_nothing(tmp_path: Path, caplog) -> None:
    import resource

    cache = ProgramCache(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        for key in ("one", "two"):
            cache.put(key, bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(caplog.records) == 1 and "not kept" in caplog.text
    assert not list(tmp_path.iterdir())
    assert cache.get("one") is None


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path, caplog) -> None:
    cache = ProgramCache(tmp_path / "gone")
    cache.put("one", b"program")
    assert cache.get("one") is None and not caplog.records
