"""Facts about the machine and the versions that a measurement was made with."""

import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

import nbyt
from nbyt.system import usable_cores

# Those of ours, and of the peers; a package that is not installed was not needed.
_PACKAGES = ("jax", "jaxlib", "gymnax", "gymnasium", "numpy", "scipy", "rejax", "stable-baselines3")
_PACKAGES += ("sbx-rl", "torch", "backpack-for-pytorch", "envpool")


def machine() -> dict[str, Any]:
    """Processor, memory, load when the measurement began, and versions of what is installed."""
    versions = {name: version for name in _PACKAGES if (version := _version(name))}
    return {
        "cores": usable_cores(),
        "cpu": _processor(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "load_before": round(psutil.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version(), "nbyt": nbyt.__version__, **versions},
    }


def in_words(facts: dict[str, Any]) -> str:
    """The facts as a page's last section."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (
        f"## Machine\n\n{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB, "
        f"{facts['system']}; load average {facts['load_before']} when it began.\n\n{versions}.\n"
    )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())
