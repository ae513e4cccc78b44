"""What a run ran on: versions, platform, settings; without secrets and without the home path."""

import os
import platform
import re
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("nbyt", "jax", "jaxlib", "numpy", "optax", "gymnax", "gymnasium")
# Packages that only some runs have to do with, by the name they are imported by.
_BRIDGED = {"torch": "torch", "stable_baselines3": "stable-baselines3"}
_ALLOWED = re.compile(r"(JAX_|XLA_).*|CUDA_VISIBLE_DEVICES")


def manifest(command: str, settings: dict[str, Any], seed: int, device: str) -> dict[str, Any]:
    """The record of a run's surroundings, as plain JSON.

    `started` is the only time in any of our files; results must not depend on when they were made.
    """
    return {
        "command": _tidy(command),
        "settings": _tidy(settings),
        "seed": seed,
        "device": device,
        "versions": versions(),
        "platform": platform.platform(),
        "environment": {
            name: _tidy(value) for name, value in os.environ.items() if _ALLOWED.fullmatch(name)
        },
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions() -> dict[str, str | None]:
    """Versions from the installed metadata: importing jax to ask it would take seconds."""
    used = [package for name, package in _BRIDGED.items() if name in sys.modules]
    named = {name: version(name) for name in (*_PACKAGES, *used)}
    return {"python": platform.python_version(), **named}


def version(package: str) -> str | None:
    """The installed version of a package, or None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _tidy(value: Any) -> Any:
    """The value with the home path as `~` and without the credentials of any address."""
    if isinstance(value, dict):
        return {_tidy(key): _tidy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tidy(item) for item in value]
    if isinstance(value, Path):
        return _tidy(str(value))
    if not isinstance(value, str):
        return value
    text = re.sub(r"(?<=://)[^/\s@]+@", "", value)
    home = os.path.expanduser("~")
    # A home of "/" would turn every path into nonsense.
    return re.sub(re.escape(home) + r"(?![\w.-])", "~", text) if len(home) > 1 else text
