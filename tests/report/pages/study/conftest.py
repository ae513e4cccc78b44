"""A study with every kind of figure to make pages of, and to look at in a browser."""

from typing import Any

import pytest
from tests.report.browsing import Browsed
from tests.report.pages.study.study_sample import study
from tests.report.typed import write_study_page

Data = dict[str, Any]


@pytest.fixture
def data() -> Data:
    """A study with every kind of figure and every verdict."""
    return study()


@pytest.fixture(scope="session")
def browsed() -> Browsed:
    """The page of the study, allowed to copy."""
    chart = "chart-claim-correlated-steps-0"
    return Browsed(
        write_study_page, study, chart, {"permissions": ["clipboard-read", "clipboard-write"]}
    )
