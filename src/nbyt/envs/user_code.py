"""Code of the user's, imported only because the user wrote its name."""

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from nbyt.errors import UsageError, described


class calling_user_code:  # noqa: N801 (a context manager used as a word)
    """Make an error of nbyt's of whatever the user's code raises; only Ctrl-C passes.

    A process that the user's code has forked, and that comes out of it, ends here: it would
    otherwise train too, and write into the same files.
    """

    def __init__(self, error: Callable[[BaseException], Exception]) -> None:
        self._error, self._process = error, os.getpid()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        end_fork_of(self._process)
        if error is not None and not isinstance(error, KeyboardInterrupt):
            told = self._error(error)
            if told is not error:
                raise told from error


def end_fork_of(process: int) -> None:
    """End this process if it is not the one of that number, but forked from it by user code."""
    if os.getpid() != process:
        os._exit(0)


def imported(name: str, *, where: str, fix: str, error: type[UsageError] = UsageError) -> Any:
    """What `package.module:name` names; the working directory is on the import path."""
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)

    def refused(raised: BaseException) -> UsageError:
        return error(
            f"'{name}' cannot be imported: {described(raised)}",
            where=where,
            fix=f"{fix}; the working directory is on the import path",
        )

    with calling_user_code(refused):
        return getattr(importlib.import_module(module), attribute)
