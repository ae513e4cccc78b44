"""nbyt ("N by T"): how to split a PPO batch into parallel environments and rollout steps.

Names are resolved on first use, so that importing nbyt imports no JAX.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbyt import dialects as dialects
    from nbyt import envs as envs
    from nbyt import exact as exact
    from nbyt import policy as policy
    from nbyt.advice.run import advise
    from nbyt.errors import NbytError as NbytError
    from nbyt.layout import Layout as Layout
    from nbyt.measure.probe import probe
    from nbyt.sweep.run import run_sweep

__version__ = "0.1.0"

_HOME = {
    "Layout": "nbyt.layout",
    "NbytError": "nbyt.errors",
    "advise": "nbyt.advice.run",
    "probe": "nbyt.measure.probe",
    "run_sweep": "nbyt.sweep.run",
}
_MODULES = (
    "advice",
    "collect",
    "dialects",
    "envs",
    "exact",
    "gradients",
    "integrations",
    "measure",
    "minibatch",
    "objective",
    "policy",
    "stats",
    "store",
    "sweep",
    "train",
)

__all__ = ["Layout", "NbytError", "__version__", "advise", "probe", "run_sweep", *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"nbyt.{name}")
    raise AttributeError(f"module 'nbyt' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
