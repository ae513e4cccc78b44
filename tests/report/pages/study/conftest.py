"""A study with every kind of figure to make pages of, and to look at in a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.browsing import Visit
from tests.report.pages.study.study_sample import study

from nbyt.report.pages.study import write_study_page

Data = dict[str, Any]
CHART = "chart-claim-correlated-steps-0"


@pytest.fixture
def data() -> Data:
    """A study with every kind of figure and every verdict."""
    return study()


@pytest.fixture
def visit(chromium: Any, data: Data, tmp_path: Path) -> Iterator[Any]:
    """A function that opens the page of the data, or of other data, with a context's options."""
    opened: list[Visit] = []

    def _open(other: Data | None = None, **context: Any) -> Visit:
        path = tmp_path / f"page-{len(opened)}.html"
        write_study_page(other or data, path)
        opened.append(Visit(chromium, path, CHART, **context))
        return opened[-1]

    yield _open
    for one in opened:
        one.context.close()


@pytest.fixture(scope="session")
def opened(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """One page that stays open."""
    path = tmp_path_factory.mktemp("study") / "page.html"
    write_study_page(study(), path)
    seen = Visit(chromium, path, CHART, permissions=["clipboard-read", "clipboard-write"])
    yield seen
    seen.context.close()


@pytest.fixture
def seen(opened: Visit) -> Visit:
    """The open page, put back to how it was."""
    opened.restore()
    return opened
