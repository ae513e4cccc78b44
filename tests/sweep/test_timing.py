"""Times that cannot be had are left out with a sentence, unless the folder is bad."""

from pathlib import Path
from typing import Any

import pytest
from tests.sweep.made_up import grid_of

from nbyt.errors import EnvError, NbytError, StoreError
from nbyt.store.run import Folder, open_run
from nbyt.sweep import timing
from nbyt.sweep.grid import Grid
from nbyt.sweep.timing import add_times


def added(grid: Grid, folder: Path, **options: Any) -> list[str]:
    run: Folder = open_run(folder, grid.identity(), "sweep")
    options = {"step_limit": 60.0, "progress": lambda *what: None} | options
    return add_times(grid, run, **options)


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make every part fail with an error."""

    def with_error(error: NbytError) -> None:
        def fail(*_: Any) -> None:
            raise error

        monkeypatch.setattr(timing, "time_layouts_of", fail)

    return with_error


def test_an_error_of_the_env_leaves_its_part_out(tmp_path: Path, refuse: Any) -> None:
    refuse(EnvError("a trace\nit broke", where="step 3", fix="fix it"))
    grid = grid_of(2, (4, 8))
    assert added(grid, tmp_path / "times") == ["no times: it broke (step 3)"]


def test_an_error_of_the_folder_is_raised(tmp_path: Path, refuse: Any) -> None:
    refuse(StoreError("damaged", where="times.json", fix="remove it"))
    with pytest.raises(StoreError, match="damaged"):
        added(grid_of(2, (4, 8)), tmp_path / "sweep")


def test_one_layout_has_nothing_to_compare(tmp_path: Path, refuse: Any) -> None:
    refuse(StoreError("never asked", where="", fix=""))
    assert added(grid_of(2, (8,)), tmp_path / "sweep") == []
