"""Commands as a user gives them, from the words to what is printed and the exit code."""

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nbyt.cli import main

# For tests of the process itself: its signals, its exit, what it imports.
NBYT = [sys.executable, "-m", "nbyt.cli.main"]


class Printed(NamedTuple):
    """What a command has printed."""

    stdout: str
    stderr: str


def nbyt(*arguments: str, cwd: Path | None = None, code: int = 0) -> Printed:
    """Run a command to its end; its exit code is part of the promise.

    In this process: starting Python and importing JAX would take longer than the command.
    """
    out, err = io.StringIO(), io.StringIO()
    with _folder(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        found = main.run(list(arguments))
    assert found == code, err.getvalue()
    assert "Traceback" not in err.getvalue()
    return Printed(out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _folder(cwd: Path | None) -> Iterator[None]:
    """Be in a folder, and forget the modules that were found there."""
    modules, path = set(sys.modules), list(sys.path)
    with contextlib.chdir(cwd or Path.cwd()):
        yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None)
        if cwd is not None and file is not None and Path(file).is_relative_to(cwd):
            del sys.modules[name]
