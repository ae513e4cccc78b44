"""Getting JAX ready: which device, how many, and a cache of compiled programs."""

import os
from pathlib import Path
from typing import Any

import jax

from nbyt.errors import UsageError


def prepare(device: str = "auto", *, cache: bool = True) -> None:
    """Set JAX up for training; call before the first array is made.

    A CPU with two cores or more is shown to JAX as two devices, so that actor and critic can be
    improved side by side: the networks of RL are too small for one program to use two cores.
    """
    if device != "auto":
        jax.config.update("jax_platforms", device if device == "cpu" else f"{device},cpu")
    if len(os.sched_getaffinity(0)) > 1:
        _two_cpu_devices()
    if cache:
        _keep_compiled_programs()
    try:
        jax.devices()
    except RuntimeError as error:
        raise UsageError(
            f"JAX has no device '{device}'",
            where="device",
            fix="use --device cpu, or install JAX for that device",
        ) from error


def settle(tree: Any) -> Any:
    """The tree with every array bound to the first device.

    JAX compiles anew when an array that was bound to no device comes back bound to one, so what is
    carried from update to update is bound from the start.
    """
    return jax.device_put(tree, jax.devices()[0])


def forget_programs() -> None:
    """Let go of all compiled programs.

    Each is a few dozen pieces of memory, and Linux lets a process have 65,530 of those: after some
    hundred layouts the next program would end the process.
    """
    jax.clear_caches()


def describe() -> str:
    """The device that work runs on, in words."""
    first = jax.devices()[0]
    return f"{first.platform} ({first.device_kind})"


def _two_cpu_devices() -> None:
    try:
        jax.config.update("jax_num_cpu_devices", 2)
    except RuntimeError:  # JAX is already running with what it has; that works too
        return


def _keep_compiled_programs() -> None:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "nbyt" / "programs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a read-only home only costs the time of compiling
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
