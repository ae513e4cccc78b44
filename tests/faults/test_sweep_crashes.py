"""A sweep that was stopped by a crash, a full disk or a damaged file ends as if it never was."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.disk_limit import full_disk
from tests.sweeps.small import HOST, grid_of, set_traps
from tests.sweeps.traps import FOLDER, Crash

from nbyt.errors import DiskError
from nbyt.results.sweep import CellCounts
from nbyt.store.run import Folder
from nbyt.sweeps.grid import Grid
from nbyt.sweeps.run import open_sweep, table_text
from nbyt.sweeps.trainings import Tally, curves_of, failures_of, run_cells
from nbyt.training import hardware

SEEDS = 6


@pytest.fixture(scope="module")
def grid() -> Grid:
    """Twelve cells."""
    return grid_of(HOST, SEEDS)


@pytest.fixture(scope="module", autouse=True)
def programs_are_kept() -> Iterator[None]:
    """Compiled once for all tests: that is no part of what they show."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hardware, "forget_programs", lambda: None)
        yield


@pytest.fixture(scope="module")
def unbroken(grid: Grid, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The same sweep, with nothing in its way."""
    folder = open_sweep(grid, tmp_path_factory.mktemp("unbroken") / "sweep", force=False)
    assert run_cells(grid, folder) == Tally(12, 12, 0, {})
    return folder


@pytest.fixture(autouse=True)
def no_traps() -> Iterator[None]:
    yield
    os.environ.pop(FOLDER, None)


def table(grid: Grid, folder: Folder) -> str:
    return table_text(grid, curves_of(grid, folder), failures_of(grid, folder))


def files(folder: Folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.path.glob("cell-*")}


def test_a_crash_in_any_cell_costs_that_cell_alone(
    grid: Grid, unbroken: Folder, tmp_path: Path
) -> None:
    """Every run goes on from the last one, and is struck down in the cell after the next."""
    told = files(unbroken)
    assert len(set(told.values())) == 12, "cells must differ, or nothing is shown"
    folder = open_sweep(grid, tmp_path / "sweep", force=False)
    for struck in range(12):

        def strike(tally: Tally, struck: int = struck) -> None:
            if tally.done == struck:
                set_traps(tmp_path / "traps", "here-crash")

        with pytest.raises(Crash):
            run_cells(grid, folder, progress=strike)
        os.environ.pop(FOLDER)
        assert len(files(folder)) == struck and files(folder).items() <= told.items()
    assert run_cells(grid, folder).done == 12
    assert table(grid, folder) == table(grid, unbroken)


def test_cells_that_fail_are_told_kept_apart_and_retried(
    grid: Grid, unbroken: Folder, tmp_path: Path
) -> None:
    folder = open_sweep(grid, tmp_path / "sweep", force=False)

    def strike(tally: Tally) -> None:
        if (tally.done + tally.failed) % 2 == 0:
            set_traps(tmp_path / "traps", "here-raise")

    tally = run_cells(grid, folder, progress=strike)
    os.environ.pop(FOLDER)
    assert (tally.done, tally.failed) == (6, 6)
    said = failures_of(grid, folder)
    assert len(said) == 6
    for facts in said.values():
        own, *_, last = facts.message.splitlines()
        assert own == "in your code:" and "traps.py" in facts.message
        assert "ZeroDivisionError: the user's own words in step" in last
        assert facts.where.startswith("env 0, step 3, seed ")
    # Given up is given up, until somebody asks; the table says so.
    assert run_cells(grid, folder).failed == 6
    assert table(grid, folder).count(",failed,") == 6
    assert run_cells(grid, folder, retry_failed=True).counts == CellCounts(
        done=12,
        failed=0,
        total=12,
    )
    assert table(grid, folder) == table(grid, unbroken)
    assert not list(folder.path.glob("failed-*"))


def test_a_full_disk_and_damaged_files_leave_the_same_table(
    grid: Grid, unbroken: Folder, tmp_path: Path
) -> None:
    folder = open_sweep(grid, tmp_path / "sweep", force=False)
    told = files(unbroken)
    for name in sorted(told)[:10]:
        (folder.path / name).write_bytes(told[name])
    with full_disk(100), pytest.raises(DiskError, match="bytes needed") as caught:
        run_cells(grid, folder)
    assert caught.value.exit_code == 1 and str(folder.path) in str(caught.value)
    assert files(folder) == {name: told[name] for name in sorted(told)[:10]}
    damaged = folder.path / sorted(told)[3]
    damaged.write_bytes(told[damaged.name].replace(b"unfinished", b"unfinishes"))
    tally = run_cells(grid, folder)
    assert tally.counts == CellCounts(done=12, failed=0, total=12)
    assert files(folder) == told and table(grid, folder) == table(grid, unbroken)
    leftovers = [path.name for path in folder.path.iterdir() if path.name not in told]
    assert leftovers == ["nbyt-run.json"]
