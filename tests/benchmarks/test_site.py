"""The documentation site has what pages link to and every public name."""

import re

import pytest

import nbyt

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
