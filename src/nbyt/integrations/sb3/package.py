"""The door to Stable-Baselines3: the only file that imports it, and not before it is needed."""

import importlib
from typing import Any

from nbyt.errors import MissingExtraError


def module(name: str) -> Any:
    """A module of Stable-Baselines3, such as "common.vec_env"."""
    try:
        import stable_baselines3
    except ImportError as error:
        raise MissingExtraError("stable_baselines3", "sb3") from error
    return importlib.import_module(f"{stable_baselines3.__name__}.{name}")
