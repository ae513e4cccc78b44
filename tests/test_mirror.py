"""The test of a module is found by its name, and tests stand on their own."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CORE = TESTS.parent / "src" / "nbyt"
MODULES = sorted(
    path.relative_to(CORE) for path in CORE.rglob("*.py") if not path.name.startswith("__")
)
# Modules without a test of their name, and why. Keep this short: a law can be found for most.
WITHOUT: dict[str, str] = {}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_of_the_core_has_its_test(module: Path) -> None:
    test = module.parent / f"test_{module.name}"
    has_test = (TESTS / test).exists()
    if str(module) in WITHOUT:
        assert not has_test, f"tests/{test} is there: take {module} off the list"
    else:
        assert has_test, f"src/nbyt/{module} has no tests/{test}"


def test_exceptions_are_modules() -> None:
    assert set(WITHOUT) <= set(map(str, MODULES))


def imported(path: Path) -> set[str]:
    """Return the last names of all modules that a file may import."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(alias.name for alias in node.names)}
    return {name.rpartition(".")[2] for name in names}


def test_no_test_imports_from_another() -> None:
    tests = {path.stem for path in TESTS.rglob("test_*.py")}
    wrong = {path: imported(path) & tests for path in TESTS.rglob("*.py")}
    assert {str(path): names for path, names in wrong.items() if names} == {}
