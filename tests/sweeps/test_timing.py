"""Times that cannot be had are left out with a sentence, unless the folder is bad."""

from pathlib import Path
from typing import Any

import pytest
from tests.sweeps.made_up import costs_of, grid_of
from tests.sweeps.small import DEVICE, HOST
from tests.sweeps.small import grid_of as small_grid

from nbyt.errors import DiskError, EnvError, NbytError, RunInterruptedError, StoreError
from nbyt.store.files import TIMES
from nbyt.store.run import Folder, open_run
from nbyt.sweeps import timing
from nbyt.sweeps.grid import Grid
from nbyt.sweeps.timing import add_times, load_costs


def opened(grid: Grid, folder: Path) -> Folder:
    """The folder of a sweep of this grid."""
    return open_run(folder, grid.identity(), "sweep")


def added(grid: Grid, folder: Folder) -> list[str]:
    """What is said of times that could not be had."""
    return add_times(grid, folder, step_limit=60.0, progress=lambda *what: None)


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make every timing fail with an error."""

    def with_error(error: NbytError) -> None:
        def fail(*_: Any) -> None:
            raise error

        monkeypatch.setattr(timing, "time_layouts_of", fail)

    return with_error


def test_an_error_of_the_env_leaves_times_out(tmp_path: Path, refuse: Any) -> None:
    refuse(EnvError("a trace\nit broke", where="step 3", fix="fix it"))
    grid = grid_of(2, (4, 8))
    folder = opened(grid, tmp_path / "sweep")
    assert added(grid, folder) == ["no times: it broke (step 3)"]
    assert load_costs(folder) is None


@pytest.mark.parametrize("kind", [DiskError, RunInterruptedError, StoreError])
def test_an_error_that_is_not_the_envs_is_raised(
    tmp_path: Path, refuse: Any, kind: type[NbytError]
) -> None:
    refuse(kind("damaged", where="times.json", fix="remove it"))
    grid = grid_of(2, (4, 8))
    with pytest.raises(kind, match="damaged"):
        added(grid, opened(grid, tmp_path / "sweep"))


def test_one_layout_has_nothing_to_compare(tmp_path: Path, refuse: Any) -> None:
    refuse(StoreError("never asked", where="", fix=""))
    grid = grid_of(2, (8,))
    assert added(grid, opened(grid, tmp_path / "sweep")) == []


def test_what_was_timed_is_not_timed_again(tmp_path: Path, refuse: Any) -> None:
    refuse(StoreError("never asked", where="", fix=""))
    grid = grid_of(2, (4, 8))
    folder, costs = opened(grid, tmp_path / "sweep"), costs_of(grid)
    folder.write(TIMES, costs.record)
    assert added(grid, folder) == []
    assert load_costs(folder) == costs


@pytest.mark.parametrize("env", [DEVICE, HOST], ids=["here", "in a worker"])
def test_every_layout_of_a_small_sweep_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: str
) -> None:
    """A host env's updates are timed by a worker, which writes them into the same folder."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    grid = small_grid(env, seeds=1)
    folder = opened(grid, tmp_path / "sweep")
    assert added(grid, folder) == []
    costs = load_costs(folder)
    assert costs is not None
    assert set(costs.timed) == {(one.envs, one.steps) for one in grid.layouts}
