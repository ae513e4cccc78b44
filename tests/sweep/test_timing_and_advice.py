"""Times and advice that cannot be had are left out with a sentence, unless the folder is bad."""

from pathlib import Path
from typing import Any

import pytest
from nbyt.sweep.timing_and_advice import add_timing_and_advice
from tests.sweep.made_up import grid_of

from nbyt.errors import EnvError, NbytError, StoreError
from nbyt.store.run import Folder, open_run
from nbyt.sweep import timing_and_advice
from nbyt.sweep.grid import Grid


def added(grid: Grid, folder: Path, **options: Any) -> list[str]:
    run: Folder = open_run(folder, grid.identity(), "sweep")
    options = {"advice": True, "step_limit": 60.0, "progress": lambda *what: None} | options
    return add_timing_and_advice(grid, run, **options)


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make every part fail with an error."""

    def with_error(error: NbytError) -> None:
        def fail(*_: Any) -> None:
            raise error

        monkeypatch.setattr(timing_and_advice, "add_part", fail)

    return with_error


def test_an_error_of_the_env_leaves_its_part_out(tmp_path: Path, refuse: Any) -> None:
    refuse(EnvError("a trace\nit broke", where="step 3", fix="fix it"))
    grid = grid_of(2, (4, 8))
    both = ["no times: it broke (step 3)", "no advice: it broke (step 3)"]
    assert added(grid, tmp_path / "both") == both
    assert added(grid, tmp_path / "times", advice=False) == both[:1]


def test_an_error_of_the_folder_is_raised(tmp_path: Path, refuse: Any) -> None:
    refuse(StoreError("damaged", where="times.json", fix="remove it"))
    with pytest.raises(StoreError, match="damaged"):
        added(grid_of(2, (4, 8)), tmp_path / "sweep")


def test_one_layout_has_nothing_to_compare(tmp_path: Path, refuse: Any) -> None:
    refuse(StoreError("never asked", where="", fix=""))
    assert added(grid_of(2, (8,)), tmp_path / "sweep") == []
