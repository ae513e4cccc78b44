"""Facts about the machine that a measurement was made on."""

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import nbyt

_PACKAGES = (
    "jax",
    "jaxlib",
    "gymnax",
    "gymnasium",
    "numpy",
    "rejax",
    "stable-baselines3",
    "sbx-rl",
    "torch",
    "envpool",
)


def machine() -> dict[str, Any]:
    """Processor, memory, load when the measurement began, and versions."""
    versions = {name: metadata.version(name) for name in _PACKAGES}
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version(), "nbyt": nbyt.__version__, **versions},
    }


def _field(file: str, name: str) -> str:
    if not Path(file).exists():
        return ""
    lines = Path(file).read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
