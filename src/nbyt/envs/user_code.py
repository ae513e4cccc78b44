"""Code of the user's, imported only because the user wrote its name."""

import importlib
import sys
from pathlib import Path
from typing import Any

from nbyt.errors import UsageError


def imported(name: str, *, where: str, fix: str, error: type[UsageError] = UsageError) -> Any:
    """What `package.module:name` names; the working directory is on the import path."""
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as raised:  # the user's module may raise anything
        raise error(
            f"'{name}' cannot be imported: {type(raised).__name__}: {raised}",
            where=where,
            fix=f"{fix}; the working directory is on the import path",
        ) from raised
