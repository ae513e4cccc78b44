"""A probed training to make pages of, and its page without Plotly's megabytes."""

from typing import Any

import pytest
from tests.report.pages.probes.probes_sample import training

Data = dict[str, Any]


@pytest.fixture
def data() -> Data:
    """A training with everything in it that can be."""
    return training()
