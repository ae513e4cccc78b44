"""The public surface changes only on purpose, and never without a line in the changelog.

`make surface` writes the snapshot and the schemas anew.
"""

import shutil
from pathlib import Path

import pytest
from tests.surface import snapshot
from tests.surface.write import written

from nbyt.results.schema import FOLDER, schemas

TOLD = "add a line to CHANGELOG.md under Unreleased, then run `make surface`"
OLD, NEW = "## [Unreleased]\n\n- one\n", "## [Unreleased]\n\n- one\n- two\n"


def test_the_surface_is_that_of_the_snapshot() -> None:
    known = snapshot.known(snapshot.FILE.read_text("utf-8"))
    changed = snapshot.difference(known, snapshot.lines())
    assert not changed, "\n".join(["the public surface has changed:", *changed, TOLD])


def test_the_shipped_schemas_are_those_of_the_types() -> None:
    found = {path.stem: path.read_text("utf-8") for path in FOLDER.iterdir()}
    made = {name: snapshot.schema_text(one) for name, one in schemas().items()}
    assert set(found) == set(made), TOLD
    assert [name for name in made if made[name] != found[name]] == [], TOLD


@pytest.mark.parametrize(
    ("file", "before", "after", "line"),
    [
        ("api/work.py", "def advise(", "def advise(more: int, ", "+ python nbyt.advise(more: int"),
        ("__init__.py", '    "advise",\n', "", "- python nbyt.advise("),
        ("layout.py", "    epochs: Passes = 1\n", "", "- python nbyt.Layout.epochs: "),
        ("errors.py", "    exit_code = 2\n", "    exit_code = 3\n", "exit_code = 3"),
        ("store/files.py", '"sweep.json"', '"swept.json"', "+ file swept.json"),
    ],
)
def test_a_change_of_any_part_is_seen(
    file: str, before: str, after: str, line: str, tmp_path: Path
) -> None:
    source = tmp_path / "src"
    shutil.copytree(snapshot.SOURCE, source, ignore=shutil.ignore_patterns("__pycache__"))
    path = source / "nbyt" / file
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")
    changed = snapshot.difference(snapshot.lines(), snapshot.lines(source))
    assert any(line in one for one in changed), changed


def test_a_changed_surface_needs_a_new_line_in_the_changelog(tmp_path: Path) -> None:
    file = tmp_path / "surface.txt"
    assert written(["a", "b"], file, OLD) == ""
    first = file.read_text()
    refused = written(["a", "c"], file, OLD)
    assert "- b\n+ c" in refused and "CHANGELOG.md" in refused
    assert file.read_text() == first
    assert written(["a", "c"], file, NEW) == ""
    assert snapshot.known(file.read_text()) == ["a", "c"]
    assert written(["a", "c"], file, NEW) == ""


def test_neither_side_of_a_merge_has_the_line_of_both(tmp_path: Path) -> None:
    file = tmp_path / "surface.txt"
    both = [snapshot.as_text(["a"], snapshot.unreleased(one)) for one in (OLD, NEW)]
    file.write_text(f"<<<<<<< ours\n{both[0]}=======\n{both[1]}>>>>>>> theirs\n")
    assert written(["a", "c"], file, OLD) and written(["a", "c"], file, NEW)
    assert written(["a", "c"], file, NEW + "- three\n") == ""
    assert snapshot.known(file.read_text()) == ["a", "c"]


def test_what_is_below_a_release_is_not_unreleased() -> None:
    released = f"{OLD}\n## [0.1.0] - 2026-01-01\n"
    assert snapshot.unreleased(released) == snapshot.unreleased(f"{released}\n- more\n")
    assert snapshot.unreleased(OLD) != snapshot.unreleased(NEW)
