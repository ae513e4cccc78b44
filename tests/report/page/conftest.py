"""A real advice to make pages of, and one headless Chromium to look at them with."""

import copy
import gzip
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nbyt.report.page import write_page

Data = dict[str, Any]
_WIDE = {"width": 1280, "height": 900}
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


def _missing(reason: str) -> None:
    if os.environ.get("NBYT_NEED_BROWSER") == "1":
        pytest.fail(f"{reason}, and NBYT_NEED_BROWSER=1")
    warnings.warn(f"THE PAGE WAS NOT LOOKED AT IN A BROWSER: {reason}", stacklevel=2)
    pytest.skip(f"THE PAGE WAS NOT LOOKED AT: {reason}; `make browser` installs one")


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


class Visit:
    """A page that was opened, with what it asked for and what it complained about."""

    def __init__(self, chromium: Any, path: Path, **context: Any) -> None:
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.context = chromium.new_context(**{"viewport": _WIDE, **context})
        self.context.route("**/*", self._route)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self._said(message))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self._dialog(dialog))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("#chart-factors .main-svg")

    def _route(self, route: Any) -> None:
        url = route.request.url
        if url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            self.asked.append(url)
            route.abort()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def plotted(self, name: str) -> Any:
        """The values that a chart shows now."""
        values = "id => document.getElementById(id).data.map(t => [t.x, t.y])"
        return self.page.evaluate(values, name)

    def until(self, question: str) -> None:
        """Nothing, once the answer is yes. The page's policy forbids Playwright's own way."""
        for _ in range(100):
            if self.page.evaluate(question):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never came true: {question}")

    def restore(self) -> None:
        """Nothing; the page is then as a reader first finds it."""
        self.page.emulate_media(media="screen", color_scheme="light")
        self.page.set_viewport_size(_WIDE)
        self.page.evaluate(
            """() => { delete document.documentElement.dataset.theme;
            document.querySelectorAll("details").forEach(one => { one.open = false; });
            document.activeElement.blur(); scrollTo(0, 0); }"""
        )
        self.until("document.getElementById('chart-factors').layout.width > 1000")
        self.complaints.clear()


@pytest.fixture
def visit(chromium: Any, data: Data, tmp_path: Path) -> Iterator[Any]:
    """A function that opens the page of the data, or of other data, with a context's options."""
    opened: list[Visit] = []

    def _open(other: Data | None = None, **context: Any) -> Visit:
        path = tmp_path / f"page-{len(opened)}.html"
        write_page(other or data, path)
        opened.append(Visit(chromium, path, **context))
        return opened[-1]

    yield _open
    for one in opened:
        one.context.close()


@pytest.fixture(scope="session")
def opened(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """One page that stays open: reading five megabytes again for each test takes a minute."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(_full(), path)
    seen = Visit(chromium, path, permissions=["clipboard-read", "clipboard-write"])
    yield seen
    seen.context.close()


@pytest.fixture
def seen(opened: Visit) -> Visit:
    """The open page, put back to how it was."""
    opened.restore()
    return opened
