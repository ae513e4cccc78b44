"""The law of the one door: `store.paths` alone makes, changes and removes files.

Behind it no link below an output folder is followed; `tests/store/test_files.py` tries
that. Here the source is read: whoever calls the system past the door needs a reason in `ALLOWED`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
DOOR = "nbyt/store/paths.py"
ALLOWED = {
    ("nbyt/store/atomic.py", "os.open"): "reads, never through a link",
    ("nbyt/user_file.py", "os.open"): "reads a file that the user names",
    ("nbyt/cli/main.py", "os.open"): "/dev/null, where a reader has gone",
    ("nbyt/processes/worker.py", "os.open"): "/dev/null, in place of the driver's orders",
    (
        "nbyt/cli/output.py",
        "open w",
    ): "stdout or stderr again, by number, where an env has closed it",
    (
        "nbyt/processes/heartbeat.py",
        ".open r+b",
    ): "a temporary file of the driver's, mapped into memory",
    ("nbyt/processes/heartbeat.py", "tempfile.mkstemp"): "that file: new, and closed to others",
    ("nbyt/processes/heartbeat.py", ".unlink"): "that file",
    ("nbyt/collect/pool.py", "tempfile.TemporaryFile"): "memory for arrays; it has no name",
    ("nbyt/collect/pool.py", "np.memmap"): "that file, while the arrays are used",
    ("nbyt/cli/doctor.py", "tempfile.TemporaryDirectory"): "a new folder, filled through the door",
    ("nbyt/sweeps/cluster.py", "tempfile.TemporaryDirectory"): "likewise",
    ("nbyt/sweeps/ray_task.py", "tempfile.TemporaryDirectory"): "likewise",
    ("nbyt/measure/auditing.py", "tempfile.TemporaryDirectory"): "likewise",
    ("nbyt/sweeps/cluster.py", "tempfile.gettempdir"): "reads Ray's note there",
    ("nbyt/training/programs.py", ".mkdir"): "the user's cache, with rules of its own",
}
CHANGING = {
    "os": "chmod chown link makedirs mkdir mkfifo mknod open remove removedirs rename renames "
    "replace rmdir symlink truncate unlink utime",
    "np": "memmap save savetxt savez savez_compressed",
    # All that they have.
    "shutil": "",
    "tempfile": "",
}
# On any object.
METHODS = {
    *("write_text", "write_bytes", "mkdir", "touch", "unlink", "rmdir", "rename", "chmod"),
    *("symlink_to", "hardlink_to", "tofile", "save_file", "FileHandler"),
}


def changes(tree: ast.AST) -> Iterator[str]:
    """Each call in a module that may change what is on disk, by a name for the list above."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in CHANGING:
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Import):
            # Under another name its calls would not be found.
            yield from (
                f"as {one.asname}" for one in node.names if one.name in CHANGING and one.asname
            )
        elif isinstance(node, ast.Call) and (name := _change(node)):
            yield name


def _change(call: ast.Call) -> str:
    function, mode = call.func, _mode(call)
    if isinstance(function, ast.Name):
        return f"open {mode}" if function.id == "open" and mode else ""
    if not isinstance(function, ast.Attribute):
        return ""
    name = function.attr
    if isinstance(function.value, ast.Name) and function.value.id in CHANGING:
        owner = function.value.id
        return f"{owner}.{name}" if name in (CHANGING[owner].split() or [name]) else ""
    if name == "open" and mode:
        return f".open {mode}"
    # Strings take two arguments, dataclasses and pytrees words: one alone is a path's.
    moved = name == "replace" and len(call.args) == 1 and not call.keywords
    return f".{name}" if name in METHODS or moved else ""


def _mode(call: ast.Call) -> str:
    """The mode in which a call of `open` could write; of a path the first argument is the mode."""
    given = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
    texts = [one.value for one in given if isinstance(one, ast.Constant)]
    modes = [one for one in texts if isinstance(one, str) and set(one) <= set("rwaxbt+")]
    return next((mode for mode in modes if set(mode) & set("wax+")), "")


@pytest.fixture(scope="module")
def found() -> dict[str, set[str]]:
    """What each module changes by itself."""
    files = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    return {name: set(changes(ast.parse(path.read_text()))) for name, path in files.items()}


def test_nobody_else_changes_what_is_on_disk(found: dict[str, set[str]]) -> None:
    past = {(file, call) for file, calls in found.items() if file != DOOR for call in calls}
    assert past - ALLOWED.keys() == set(), "use nbyt.store.paths or nbyt.store.atomic"
    assert ALLOWED.keys() - past == set(), "no longer needed"


def test_both_packages_are_read(found: dict[str, set[str]]) -> None:
    assert {name.split("/")[0] for name in found} == {"nbyt", "nbyt_studies"}


def test_the_door_is_found_to_change_what_is_on_disk(found: dict[str, set[str]]) -> None:
    expected = {"os.open", "os.mkdir", "os.replace", "os.unlink", "os.rmdir", "shutil.rmtree"}
    assert expected <= found[DOOR]


@pytest.mark.parametrize(
    "code",
    [
        "open(path, 'w')",
        "open(path, mode='ab')",
        "path.open('x')",
        "gzip.open(path, 'wb')",
        "path.open('r+')",
        "path.write_text('x')",
        "(folder / name).unlink(missing_ok=True)",
        "path.replace(other)",
        "path.rename(other)",
        "os.open(path, flags)",
        "os.makedirs(path)",
        "shutil.copy(a, b)",
        "tempfile.mkdtemp()",
        "from os import replace",
        "from shutil import rmtree as gone",
        "import os as system",
        "array.tofile(path)",
    ],
)
def test_a_change_is_found(code: str) -> None:
    assert list(changes(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "open(path)",
        "path.open('rb')",
        "text.replace('a', 'b')",
        "dataclasses.replace(one, name=2)",
        "os.path.exists(path)",
        "write_text(path, text)",
        "answer.open('word')",
    ],
)
def test_nothing_else_is(code: str) -> None:
    assert not list(changes(ast.parse(code)))
