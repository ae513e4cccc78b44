"""Importing a package without the plotting packages that it imports only for drawing.

gymnax imports matplotlib and seaborn at the top of a few files, which takes two seconds. While
`deferred` is active those names are stand-ins that import the real package on first use.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_PLOTTING = ("matplotlib", "matplotlib.pyplot", "matplotlib.colors", "seaborn")


@contextmanager
def deferred(names: tuple[str, ...] = _PLOTTING) -> Iterator[None]:
    """Put stand-ins for those of `names` that are not imported yet; take them out afterwards."""
    missing = [name for name in names if name not in sys.modules]
    stand_ins = {name: _stand_in(name) for name in missing}
    for name, module in stand_ins.items():
        parent, _, child = name.rpartition(".")
        if parent in stand_ins:
            setattr(stand_ins[parent], child, module)
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]


def _stand_in(name: str) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = []  # a package, so that its submodules may be imported from it

    def load(attribute: str) -> Any:
        return getattr(importlib.import_module(name), attribute)

    module.__getattr__ = load  # type: ignore[method-assign]
    return module
