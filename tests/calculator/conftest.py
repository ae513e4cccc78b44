"""One page of the calculator in one headless Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nbyt.calculator import page


class Opened(NamedTuple):
    """A page, what it asked the network for, and what it complained about."""

    page: Any
    asked: list[str]
    complaints: list[str]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the command writes."""
    path = tmp_path_factory.mktemp("calculator") / "calculator.html"
    page.write(path)
    return path


def opened(chromium: Any, path: Path, **context: Any) -> Opened:
    """Open the file, with no request allowed but its own."""
    asked: list[str] = []
    complaints: list[str] = []
    place = chromium.new_context(viewport={"width": 1280, "height": 900}, **context)

    def route(one: Any) -> None:
        if one.request.url == path.as_uri():
            one.continue_()
        else:
            asked.append(one.request.url)
            one.abort()

    place.route("**/*", route)
    tab = place.new_page()
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(path.as_uri())
    tab.wait_for_selector("#result .headline")
    return Opened(tab, asked, complaints)


@pytest.fixture(scope="module")
def calculator(chromium: Any, path: Path) -> Iterator[Opened]:
    """The page, open for the tests of a module."""
    found = opened(chromium, path)
    yield found
    found.page.context.close()
