"""A finished sweep, for the commands that read one."""

from pathlib import Path

import pytest
from tests.sweeps.made_up import curves_of, finished, grid_of

from nbyt.store.files import CELL, SWEEP
from nbyt.store.run import Folder, open_run


@pytest.fixture
def swept(tmp_path: Path) -> Folder:
    """A finished sweep of two layouts."""
    grid = grid_of(4, (4, 8))
    folder = open_run(tmp_path / "sweep", grid.identity(), "sweep")
    curves = curves_of(grid)
    for cell, curve in curves.items():
        folder.write(CELL, curve.as_dict(), cell.name)
    folder.write(SWEEP, finished(grid, curves))
    return folder
