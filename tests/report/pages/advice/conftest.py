"""An advice to make pages of, in several forms, and to look at in a browser."""

from typing import Any

import pytest
from tests.report import made_up_advice
from tests.report.browsing import Browsed
from tests.report.typed import write_page

Data = dict[str, Any]


@pytest.fixture
def data() -> Data:
    """An advice on CartPole by a race, with probed stages and all that is optional."""
    return made_up_advice.sample()


@pytest.fixture
def bare(data: Data) -> Data:
    """The same from the reference tasks alone, with nothing that is optional."""
    return made_up_advice.without_race(data)


@pytest.fixture
def unlearnt(data: Data) -> Data:
    """The same where no layout learnt anything in the race."""
    return made_up_advice.unlearnt(data)


@pytest.fixture(scope="session")
def browsed() -> Browsed:
    """The page of the advice, allowed to copy."""
    return Browsed(
        write_page,
        made_up_advice.sample,
        "chart-losses",
        {"permissions": ["clipboard-read", "clipboard-write"]},
    )
