"""The documentation site has what pages link to and every public name."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

import nbyt

SITE = Path(__file__).parents[2] / "site"
hooks = pytest.importorskip("benchmarks.site.hooks")


def test_the_reference_has_every_public_function_and_class() -> None:
    text = hooks._reference()
    named = set(re.findall(r"^::: [\w.]+\.(\w+)$", text, re.MULTILINE))
    packages = {name for name in nbyt.__all__ if hasattr(getattr(nbyt, name), "__path__")}
    assert named == set(nbyt.__all__) - packages - {"__version__"}


@pytest.mark.parametrize("name", sorted(nbyt.__all__))
def test_every_public_name_is_documented(name: str) -> None:
    assert name == "__version__" or (getattr(nbyt, name).__doc__ or "").strip()


def test_links_out_of_the_pages_are_followed() -> None:
    assert hooks._from_root("docs/advice.md") == "advice.md"
    assert hooks._from_docs("../SECURITY.md") == "SECURITY.md"
    assert hooks._from_docs("../benchmarks/parity/results") == "benchmarks/parity/results/index.md"
    assert "examples/own_rule.py" in set(hooks._linked())


def test_the_site_is_searched_without_a_network(chromium: Any) -> None:
    """The site as `make docs` left it, which `make test` calls first."""
    start = SITE / "index.html"
    if not start.exists() and os.environ.get("NBYT_NEED_BROWSER") != "1":
        pytest.skip("there is no site: make docs")
    asked, complaints = [], []
    page = chromium.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(start.as_uri())
    page.locator("html.js").wait_for()
    page.get_by_placeholder("Search").first.click()
    page.get_by_text("Type to start searching").wait_for()
    page.keyboard.type("stagger")
    page.locator(".md-search-result__item").first.wait_for()
    assert "environments.html" in page.locator(".md-search-result__list").inner_html()
    assert complaints == []
    assert [one for one in asked if not one.startswith(("file:", "data:", "blob:"))] == []
    page.close()
