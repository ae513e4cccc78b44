"""Set JAX up: which device, how many, and with a cache of compiled programs or not."""

import logging
from typing import Any

import jax

from nbyt.errors import UsageError
from nbyt.system import instruction_sets, usable_cores
from nbyt.training.programs import cache_folder, keep_compiled_programs

LOGGER = logging.getLogger("nbyt")


def prepare(
    device: str = "auto", *, cache: bool = True, parts: int | None = None, quiet: bool = False
) -> None:
    """Set JAX up for training; call before the first array is made.

    A CPU is shown to JAX as one device for each core that may be used: actor and critic are
    improved side by side on two of them, and seeds are spread over all. The networks of RL are too
    small for one program to use two cores.
    parts: as so many devices, whatever the cores are. quiet: without a word about the cache.
    """
    LOGGER.setLevel(logging.ERROR if quiet else logging.NOTSET)
    parts, cpu = parts or usable_cores(), instruction_sets()
    if device != "auto":
        jax.config.update("jax_platforms", device if device == "cpu" else f"{device},cpu")
    if parts > 1:
        _show_cpu_as(parts)
    if cache:
        keep_compiled_programs(cache_folder(cpu))
    try:
        jax.devices()
    except RuntimeError as error:
        raise UsageError(
            f"JAX has no device '{device}'",
            where="device",
            fix="use --device cpu, or install JAX for that device",
        ) from error


def prepared() -> dict[str, Any]:
    """Return the arguments with which `prepare` makes another process compute as this one does."""
    return {
        "device": "cpu" if jax.default_backend() == "cpu" else "auto",
        "cache": getattr(jax.config, "jax_compilation_cache_dir", None) is not None,
        "parts": len(jax.devices("cpu")),
        "quiet": not LOGGER.isEnabledFor(logging.WARNING),
    }


def pin_to_device(tree: Any) -> Any:
    """Bind every array of the tree to the first device.

    JAX compiles anew when an array that was bound to no device comes back bound to one, so what is
    carried from update to update is bound from the start.
    """
    return jax.device_put(tree, jax.devices()[0])


def forget_programs() -> None:
    """Drop all compiled programs.

    Each is a few dozen pieces of memory, and Linux lets a process have 65,530 of those: after some
    hundred layouts the next program would end the process.
    """
    jax.clear_caches()


def describe() -> str:
    """Name the device that work runs on."""
    first = jax.devices()[0]
    return f"{first.platform} ({first.device_kind})"


def _show_cpu_as(devices: int) -> None:
    try:
        jax.config.update("jax_num_cpu_devices", devices)
    except RuntimeError:  # JAX is already running with what it has; that works too
        return
