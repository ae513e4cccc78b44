"""One headless Chromium for all tests of pages."""

import os
import shutil
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from nbyt.report.html import page


def _missing(reason: str) -> None:
    if os.environ.get("NBYT_NEED_BROWSER") == "1":
        pytest.fail(f"{reason}, and NBYT_NEED_BROWSER=1")
    warnings.warn(f"THE PAGE WAS NOT LOOKED AT IN A BROWSER: {reason}", stacklevel=2)
    pytest.skip(f"THE PAGE WAS NOT LOOKED AT: {reason}; `make browser` installs one")


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build pages without Plotly's megabytes."""
    monkeypatch.setattr(page, "plotly_script", lambda: "window.Plotly = null;")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests of the process."""
    path = shutil.which("chromium")
    if path is None:
        _missing("there is no chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
