"""What a run ran on: versions, platform, settings; without secrets and without the home path."""

import os
import platform
import re
import sys
import urllib.parse
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("nbyt", "jax", "jaxlib", "numpy", "optax", "gymnax", "gymnasium")
# Packages that only some runs have to do with, by the name they are imported by.
_BRIDGED = {"torch": "torch", "stable_baselines3": "stable-baselines3"}
# Variables that can change numbers, or which device makes them. A name is on this list or is not
# stored: a JAX_SOMETHING_TOKEN of a later version must not be found in a file.
_VARIABLES = (
    *("JAX_PLATFORMS", "JAX_PLATFORM_NAME", "JAX_NUM_CPU_DEVICES"),
    *("JAX_ENABLE_X64", "JAX_DEFAULT_DTYPE_BITS", "JAX_NUMPY_DTYPE_PROMOTION"),
    *("JAX_DEFAULT_MATMUL_PRECISION", "JAX_DEFAULT_PRNG_IMPL", "JAX_THREEFRY_PARTITIONABLE"),
    *("JAX_RANDOM_SEED_OFFSET", "JAX_DISABLE_JIT", "JAX_DISABLE_MOST_OPTIMIZATIONS"),
    *("JAX_OPTIMIZATION_LEVEL", "JAX_EXEC_TIME_OPTIMIZATION_EFFORT", "JAX_ALLOW_F16_REDUCTIONS"),
    *("JAX_HIGH_DYNAMIC_RANGE_GUMBEL", "JAX_DEBUG_NANS", "JAX_DEBUG_INFS"),
    *("XLA_FLAGS", "LIBTPU_INIT_ARGS", "XLA_PYTHON_CLIENT_PREALLOCATE"),
    *("XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_ALLOCATOR"),
    *("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
    *("NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG"),
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE"),
    *("NPY_DISABLE_CPU_FEATURES", "PYTHONHASHSEED"),
)
# An address ends where the next one begins: lists of them need no spaces. Schemes are short, which
# keeps the search linear in texts of megabytes.
_SCHEME = r"[a-z][a-z0-9+.-]{0,30}://"
_ADDRESS = re.compile(rf"({_SCHEME})((?:(?!{_SCHEME}).)*)", re.IGNORECASE | re.DOTALL)


def manifest(command: str, settings: dict[str, Any], seed: int, device: str) -> dict[str, Any]:
    """Return the record of a run's surroundings, as plain JSON.

    `started` is the only time in any of our files; results must not depend on when they were made.
    """
    return {
        "command": tidy(command),
        "settings": tidy(settings),
        "seed": seed,
        "device": device,
        "versions": versions(),
        "platform": platform.platform(),
        "environment": {name: tidy(os.environ[name]) for name in _VARIABLES if name in os.environ},
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions() -> dict[str, str | None]:
    """Return versions from the installed metadata: importing jax to ask it would take seconds."""
    used = [package for name, package in _BRIDGED.items() if name in sys.modules]
    named = {name: version(name) for name in (*_PACKAGES, *used)}
    return {"python": platform.python_version(), **named}


def version(package: str) -> str | None:
    """Return the installed version of a package, or None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def tidy(value: Any) -> Any:
    """Return the value with the home path as `~`, and of addresses only host and path."""
    if isinstance(value, dict):
        return {tidy(key): tidy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(item) for item in value]
    if isinstance(value, Path):
        return tidy(str(value))
    if not isinstance(value, str):
        return value
    text = _ADDRESS.sub(_without_secrets, value)
    home = os.path.expanduser("~")
    # A home of "/" would turn every path into nonsense.
    return re.sub(re.escape(home) + r"(?![\w.-])", "~", text) if len(home) > 1 else text


def _without_secrets(found: re.Match[str]) -> str:
    """Cut user, password, query and fragment out of an address; of a malformed one, all of it."""
    scheme, rest = found.groups()
    address = re.split(r"\s", rest, maxsplit=1)[0]
    try:
        parts = urllib.parse.urlsplit(scheme + address)
        host = parts.netloc.rpartition("@")[2]
        # A port that is no number raises; so, and by an @ in the path, a password with / is found.
        malformed = parts.port is not None and "@" in parts.path
    except ValueError:
        malformed = True
    return f"{scheme}..." if malformed else f"{scheme}{host}{parts.path}{rest[len(address) :]}"
