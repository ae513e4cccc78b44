"""The only file that imports Stable-Baselines3, and not before it is needed."""

import importlib
from typing import Any

from nbyt.errors import MissingExtraError


def module(name: str) -> Any:
    """Return a module of Stable-Baselines3, such as "common.vec_env"."""
    return importlib.import_module(f"{_package().__name__}.{name}")


def version() -> str:
    return f"Stable-Baselines3 {_package().__version__}"


def _package() -> Any:
    try:
        import stable_baselines3
    except ImportError as error:
        raise MissingExtraError("stable_baselines3", "sb3") from error
    return stable_baselines3
