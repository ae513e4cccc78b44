"""A finished sweep, for the commands that read one."""

from pathlib import Path

import pytest
from tests.sweep.made_up import curves_of, finished, grid_of

from nbyt.store.run import open_as
from nbyt.store.sweep import SweepFolder


@pytest.fixture
def swept(tmp_path: Path) -> SweepFolder:
    """A finished sweep of two layouts."""
    grid = grid_of(4, (4, 8))
    folder = open_as(SweepFolder, tmp_path / "sweep", grid.identity())
    curves = curves_of(grid)
    for cell, curve in curves.items():
        folder.save_cell(cell.name, curve.as_dict())
    folder.write_sweep(finished(grid, curves))
    return folder
