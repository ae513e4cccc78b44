"""Compiled programs are kept for one kind of CPU, where nobody else can change them."""

import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from nbyt.system import instruction_sets
from nbyt.training import programs


@pytest.fixture(autouse=True)
def _not_quiet(caplog: pytest.LogCaptureFixture) -> None:
    """A command that was quiet in this process leaves the logger so."""
    caplog.set_level(logging.WARNING, logger="nbyt")


PREPARE = """
import sys
import jax
from nbyt.training import hardware
hardware.prepare("cpu", quiet="--quiet" in sys.argv)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
print(jax.config.jax_compilation_cache_dir)
jax.jit(lambda x: x @ x.T + 1)(jax.numpy.ones((300, 300))).block_until_ready()
"""


def prepared_with(home: Path, *options: str, umask: int = -1) -> tuple[str, str]:
    """Where a fresh process keeps its programs, and what it says about that."""
    done = subprocess.run(
        [sys.executable, "-c", PREPARE, *options],
        # The cache is what is tested, also where the other tests run without one.
        env=os.environ | {"XDG_CACHE_HOME": str(home), "JAX_ENABLE_COMPILATION_CACHE": "true"},
        umask=umask,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_programs_are_kept_where_only_their_owner_can_write(tmp_path: Path, umask: int) -> None:
    used, said = prepared_with(tmp_path / "new", umask=umask)
    assert Path(used).parent == tmp_path / "new" / "nbyt"
    for folder in (Path(used), Path(used).parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "not kept" not in said


def test_another_cpu_has_another_folder() -> None:
    here = programs.cache_folder(instruction_sets())
    assert here == programs.cache_folder(instruction_sets())
    assert programs.cache_folder("x86_64 ['sse4_2']") != here


def _opened(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)


def _opened_above(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.parent.chmod(0o777)


def _linked(folder: Path) -> None:
    elsewhere = folder.parents[1] / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.parent.mkdir()
    folder.symlink_to(elsewhere)


def _linked_above(folder: Path) -> None:
    elsewhere = folder.parents[1] / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.parent.symlink_to(elsewhere)


def _linked_to_nothing(folder: Path) -> None:
    folder.parent.symlink_to(folder.parents[1] / "nothing")


def _file(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_bytes(b"")


def _given_away(folder: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    folder.mkdir(parents=True)
    os.chown(folder, 12345, 12345)


def _given_away_above(folder: Path) -> None:
    _given_away(folder)
    os.chown(folder, 0, 0)
    os.chown(folder.parent, 12345, 12345)


TRAPS = [
    *(_opened, _opened_above, _given_away, _given_away_above),
    *(_linked, _linked_above, _linked_to_nothing, _file),
]


@pytest.mark.parametrize("trap", TRAPS)
def test_a_folder_that_others_can_change_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, trap
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = programs.cache_folder(instruction_sets())
    trap(folder)
    before = sorted(tmp_path.rglob("*"))
    used = jax.config.jax_compilation_cache_dir
    programs.keep_compiled_programs(folder)
    assert jax.config.jax_compilation_cache_dir == used
    assert "compiled programs are not kept" in caplog.text and str(folder.parent) in caplog.text
    assert sorted(tmp_path.rglob("*")) == before


def test_a_process_that_keeps_no_programs_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _linked_above(programs.cache_folder(instruction_sets()))
    used, said = prepared_with(tmp_path)
    assert used == "None" and said.count("not kept") == 1 and "is a link" in said
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_real_program_is_repaired_and_used_again(tmp_path: Path) -> None:
    used = Path(prepared_with(tmp_path)[0])
    programs = sorted(used.iterdir())
    assert programs

    def damaged(*options: str) -> list[str]:
        for path in programs:
            path.write_bytes(path.read_bytes()[:-1])
        return prepared_with(tmp_path, *options)[1].splitlines()

    assert damaged("--quiet") == []
    assert damaged() == [f"{len(programs)} damaged compiled programs were removed from {used}"]
    written = [path.stat().st_mtime_ns for path in programs]
    assert prepared_with(tmp_path)[1] == ""
    assert [path.stat().st_mtime_ns for path in programs] == written
