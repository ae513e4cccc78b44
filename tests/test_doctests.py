"""Law: every example in a docstring runs, and prints what it says."""

import doctest
import importlib
from pathlib import Path
from types import ModuleType

import pytest

import nbyt
import nbyt_studies

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _modules_with_examples() -> list[str]:
    """Names of the modules whose source holds an example; no other module is imported."""
    names = []
    for package in (nbyt, nbyt_studies):
        root = Path(package.__file__).parent
        for path in sorted(root.rglob("*.py")):
            if ">>>" in path.read_text(encoding="utf-8"):
                parts = path.relative_to(root.parent).with_suffix("").parts
                names.append(".".join(part for part in parts if part != "__init__"))
    return names


@pytest.mark.parametrize("name", _modules_with_examples())
def test_the_examples_of_a_module_give_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in _own_examples(importlib.import_module(name)):
        runner.run(test)
    assert runner.tries > 0
    assert not runner.failures


def _own_examples(module: ModuleType) -> list[doctest.DocTest]:
    """Examples that are written in the module; a docstring of another one is run there."""
    written = Path(str(module.__file__)).read_text(encoding="utf-8")
    return [
        test
        for test in doctest.DocTestFinder().find(module)
        if all(one.source.splitlines()[0] in written for one in test.examples)
    ]


@pytest.mark.parametrize(
    "public",
    [
        nbyt.probe,
        nbyt.exact.frozenlake,
        nbyt.exact.moments,
        nbyt.exact.sticky,
        nbyt.stats.Estimate,
        nbyt.stats.compare,
        nbyt.stats.describe,
        nbyt.stats.lag_profile,
        nbyt.stats.mean,
    ],
    ids=lambda public: public.__qualname__,
)
def test_the_public_api_says_what_it_takes_and_shows_how_it_is_called(public: object) -> None:
    text = public.__doc__ or ""
    assert "Parameters\n" in text and "Examples\n" in text and ">>>" in text
    assert "Returns\n" in text or isinstance(public, type)
