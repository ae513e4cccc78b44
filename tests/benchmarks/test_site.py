"""The documentation site has what pages link to and every public name."""

import importlib.util
import inspect
import os
import re
import typing
from pathlib import Path
from typing import Any

import pytest

import nbyt


def _installed(bridge: str) -> bool:
    """Whether the package that a bridge leads to is there."""
    needed = {"sb3": "stable_baselines3"}.get(name := bridge.rpartition(".")[2], name)
    return importlib.util.find_spec(needed) is not None


def _is_shown(name: str, thing: Any) -> bool:
    """Whether the reference shows this part of a class: what is public and can be called."""
    return not name.startswith("_") and (callable(thing) or isinstance(thing, property))


SITE = Path(__file__).parents[2] / "site"
hooks = pytest.importorskip("benchmarks.site.hooks")


def test_the_reference_has_every_public_function_and_class() -> None:
    text = hooks._reference()
    named = set(re.findall(r"^::: [\w.]+\.(\w+)$", text, re.MULTILINE))
    packages = {name for name in nbyt.__all__ if hasattr(getattr(nbyt, name), "__path__")}
    assert named >= set(nbyt.__all__) - packages - {"__version__"}
    # What a function says that it returns is described too.
    returned = "|".join(hints(name) for name in ("advise", "sweep", "train", "load", "probe"))
    for name in set(re.findall(r"nbyt[\w.]*\.(\w+)", returned)) - {"ProbedTraining", "Study"}:
        assert name in named, name


def hints(name: str) -> str:
    """What a public function returns, as text."""
    return str(typing.get_type_hints(getattr(nbyt, name))["return"])


PUBLIC = {
    **{f"nbyt.{name}": getattr(nbyt, name) for name in nbyt.__all__ if name != "__version__"},
    **{
        f"nbyt.{package}.{name}": thing
        for package in hooks.PACKAGES
        if package.partition(".")[0] != "integrations" or _installed(package)
        for name, thing in hooks.public(package).items()
    },
}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_documented(name: str) -> None:
    thing = PUBLIC[name]
    own = thing.__doc__ if isinstance(thing, type) else inspect.getdoc(thing)
    assert (own or "").strip() and not (own or "").startswith(f"{thing.__name__}(")
    methods = vars(thing).items() if isinstance(thing, type) else ()
    bare = [word for word, one in methods if _is_shown(word, one) and not inspect.getdoc(one)]
    assert bare == []


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
