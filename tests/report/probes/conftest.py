"""A probed training to make pages of, and its page without Plotly's megabytes."""

from typing import Any

import pytest
from tests.report.probes.probes_sample import training

from nbyt.report.pages.probes import document

Data = dict[str, Any]


@pytest.fixture
def data() -> Data:
    """A training with everything in it that can be."""
    return training()


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without Plotly's megabytes."""
    monkeypatch.setattr(document, "plotly_script", lambda: "window.Plotly = null;")
