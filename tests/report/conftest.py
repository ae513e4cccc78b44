"""What tests of pages open in the browser."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.browsing import Browsed, Visit

from nbyt.report.html import page


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build pages without Plotly's megabytes."""
    monkeypatch.setattr(page, "plotly_script", lambda: "window.Plotly = null;")


@pytest.fixture
def visit(
    chromium: Any, browsed: Browsed, data: Any, tmp_path: Path
) -> Iterator[Callable[..., Visit]]:
    """A function that opens the page of the data, or of other data, with a context's options."""
    visits: list[Visit] = []

    def _open(other: Any = None, **context: Any) -> Visit:
        path = tmp_path / f"page-{len(visits)}.html"
        browsed.write(other or data, path)
        visits.append(Visit(chromium, path, browsed.chart, **context))
        return visits[-1]

    yield _open
    for each in visits:
        each.context.close()


@pytest.fixture(scope="module")
def opened(
    chromium: Any, browsed: Browsed, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    """One page that stays open: reading five megabytes again for each test takes a minute."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    browsed.write(browsed.sample(), path)
    visit = Visit(chromium, path, browsed.chart, **browsed.context)
    yield visit
    visit.context.close()


@pytest.fixture
def seen(opened: Visit) -> Visit:
    """The open page, put back to how it was."""
    opened.restore()
    return opened
