"""Plain words: docstrings in the imperative, and no name that only this project understands."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import nbyt

SOURCE = Path(nbyt.__file__).parents[1]
FILES = sorted(path for room in ("nbyt", "nbyt_studies") for path in (SOURCE / room).rglob("*.py"))
# Names that were replaced by the field's own; docs/style.md has the table.
RETIRED = {
    *("Specimen", "Subject", "Mind", "Aim", "Harvest", "harvest", "Digest", "Gathered", "Course"),
    *("Made", "Lane", "Board", "Sight", "Heights", "Steering", "Turn", "Herald", "Keeper"),
    *("Question", "Finding", "Errand", "errand"),
}
# First words that describe a result instead of telling what the function does.
DESCRIPTIVE = {
    *(
        "a",
        "an",
        "the",
        "whether",
        "what",
        "how",
        "every",
        "each",
        "which",
        "where",
        "who",
        "whose",
    ),
    *("all", "some", "those", "this", "these", "that", "it", "its", "our", "one", "two", "nothing"),
    *("as", "in", "of", "on", "over", "if", "so", "same", "why", "when", "whoever", "whatever"),
}
ROOMS = sorted({path.relative_to(SOURCE).parts[:2] for path in FILES})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def documented(path: Path) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield every node with a docstring, its name and the docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
            text = ast.get_docstring(node)
            if text:
                yield node, getattr(node, "name", "module"), text


def place(path: Path, node: ast.AST, name: str) -> str:
    return f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 1)} {name}"


def is_property(node: ast.AST) -> bool:
    """Return whether a function is read as an attribute, and so described as a noun."""
    decorators = getattr(node, "decorator_list", [])
    return any("property" in ast.unparse(decorator) for decorator in decorators)


def first_word(text: str) -> str:
    return text.split()[0].strip(".,:;`'\"()").lower()


def test_no_docstring_begins_with_nothing() -> None:
    found = [
        place(path, node, name)
        for path in FILES
        for node, name, text in documented(path)
        if first_word(text) == "nothing"
    ]
    assert not found


def test_no_class_function_or_module_has_a_retired_name() -> None:
    found = [str(path) for path in FILES if path.stem in {name.lower() for name in RETIRED}]
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.ClassDef, *FUNCTIONS)) and node.name in RETIRED:
                found.append(place(path, node, node.name))
    assert not found


@pytest.mark.parametrize("room", ROOMS, ids="/".join)
def test_docstrings_of_functions_are_imperative(room: tuple[str, ...]) -> None:
    found = [
        f"{place(path, node, name)}: {text.splitlines()[0]}"
        for path in FILES
        if path.relative_to(SOURCE).parts[:2] == room
        for node, name, text in documented(path)
        if isinstance(node, FUNCTIONS) and first_word(text) in DESCRIPTIVE and not is_property(node)
    ]
    assert not found, "\n".join(found)


def test_the_reader_sees_docstrings_and_their_mood() -> None:
    """Prove that the laws above are not empty."""
    assert sum(1 for path in FILES for _ in documented(path)) > 500
    assert first_word("The `layout` of a batch.") in DESCRIPTIVE
    assert first_word("Return the layout.") not in DESCRIPTIVE
