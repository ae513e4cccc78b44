"""Sweeps to make pages of: one with holes, and its page without Plotly's megabytes."""

import copy
from typing import Any

import pytest
from tests.sweep.made_up import curves_of, finished, grid_of, with_holes

Data = dict[str, Any]


@pytest.fixture(scope="session")
def _swept() -> Data:
    return with_holes()


@pytest.fixture
def data(_swept: Data) -> Data:
    """A sweep with everything in it that can be: failures, a layout with no seed, the advice."""
    return copy.deepcopy(_swept)


@pytest.fixture(scope="session")
def small() -> Data:
    """Two layouts and a failure: quick to draw, often."""
    grid = grid_of(4, (4, 8))
    return finished(grid, curves_of(grid), grid.cells[:1])
