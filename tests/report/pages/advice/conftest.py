"""A real advice to make pages of, and to look at in a browser."""

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.browsing import Visit

from nbyt.report.pages.advice import write_page

Data = dict[str, Any]
_CHART = "chart-factors"
_SAMPLE = json.loads(gzip.decompress((Path(__file__).parent / "sample.json.gz").read_bytes()))
NOTHING = {"value": None, "low": None, "high": None}


def _full() -> Data:
    found = copy.deepcopy(_SAMPLE)
    found["warnings"] = ["A warning about the whole."]
    found["reproduce"] = "nbyt advise gymnax:CartPole-v1 --batch 2048 --seed 0"
    found["versions"] = {"nbyt": "0.0.0", "numpy": "2.4.6"}
    return found


@pytest.fixture
def data() -> Data:
    """An advice on CartPole, measured with normal effort, with all that is optional."""
    return _full()


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


@pytest.fixture
def visit(chromium: Any, data: Data, tmp_path: Path) -> Iterator[Any]:
    """A function that opens the page of the data, or of other data, with a context's options."""
    opened: list[Visit] = []

    def _open(other: Data | None = None, **context: Any) -> Visit:
        path = tmp_path / f"page-{len(opened)}.html"
        write_page(other or data, path)
        opened.append(Visit(chromium, path, _CHART, **context))
        return opened[-1]

    yield _open
    for one in opened:
        one.context.close()


@pytest.fixture(scope="session")
def opened(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """One page that stays open: reading five megabytes again for each test takes a minute."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(_full(), path)
    seen = Visit(chromium, path, _CHART, permissions=["clipboard-read", "clipboard-write"])
    yield seen
    seen.context.close()


@pytest.fixture
def seen(opened: Visit) -> Visit:
    """The open page, put back to how it was."""
    opened.restore()
    return opened
