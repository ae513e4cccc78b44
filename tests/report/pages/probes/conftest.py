"""A probed training to make pages of, and its page without Plotly's megabytes."""

from typing import Any

import pytest
from tests.report.browsing import Browsed
from tests.report.pages.probes.probes_sample import training
from tests.report.typed import write_probes_page

Data = dict[str, Any]


@pytest.fixture
def data() -> Data:
    """A training with everything in it that can be."""
    return training()


@pytest.fixture(scope="session")
def browsed() -> Browsed:
    """The page of a training with a long setting, so tall that every chart is near."""

    def sample() -> Data:
        data = training()
        data["settings"]["rollout_buffer_options_with_a_long_name"] = "x" * 80
        return data

    return Browsed(
        write_probes_page, sample, "chart-now-1", {"viewport": {"width": 1280, "height": 9000}}
    )
