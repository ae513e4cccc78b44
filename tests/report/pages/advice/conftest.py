"""A real advice to make pages of, and to look at in a browser."""

from typing import Any

import pytest
from tests.report.browsing import Browsed
from tests.report.typed import advice_sample, write_page

Data = dict[str, Any]
NOTHING = {"value": None, "low": None, "high": None}


@pytest.fixture
def data() -> Data:
    """An advice on CartPole, measured with normal effort, with all that is optional."""
    return advice_sample()


@pytest.fixture
def quick(data: Data) -> Data:
    """The same as a quick one: no closer look, no costs, no layout of the user's, nothing more."""
    for key in ("warnings", "reproduce", "versions", "budget"):
        data.pop(key, None)
    data |= {"effort": "quick", "costs": None, "current": None}
    data["advice"]["per_second"] = None
    for stage in data["stages"]:
        stage["closer"] = None
        for layout in stage["layouts"]:
            layout["seconds"] = {**NOTHING, "reason": "costs were not measured"}
    return data


@pytest.fixture(scope="session")
def browsed() -> Browsed:
    """The page of the advice, allowed to copy."""
    return Browsed(
        write_page,
        advice_sample,
        "chart-factors",
        {"permissions": ["clipboard-read", "clipboard-write"]},
    )
