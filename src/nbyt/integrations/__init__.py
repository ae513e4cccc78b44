"""Bridges to other tools; each optional package is imported in exactly one file.

The bridges are imported when they are used, so that none asks for a package that is not needed.
"""

import importlib
from typing import Any

_BRIDGES = ("jax", "sb3", "stagger", "torch", "trackers")


def __getattr__(name: str) -> Any:
    if name in _BRIDGES:
        return importlib.import_module(f"nbyt.integrations.{name}")
    raise AttributeError(f"module 'nbyt.integrations' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(_BRIDGES)
