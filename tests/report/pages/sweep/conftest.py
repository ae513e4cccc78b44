"""Sweeps to make pages of: one with holes, and its page without Plotly's megabytes."""

import copy
from typing import Any

import pytest
from tests.report.browsing import Browsed
from tests.sweeps.made_up import curves_of, finished, grid_of, record, with_holes

from nbyt.report.pages.sweep import sweep_page

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


@pytest.fixture(scope="session")
def browsed(_swept: Data) -> Browsed:
    """The page of the sweep, so tall that every chart is near."""
    chart = "chart-steps-per_sample"
    return Browsed(
        lambda sweep, path: sweep_page(sweep).write(path),
        lambda: record(_swept),
        chart,
        {"viewport": {"width": 1280, "height": 9000}},
    )
