"""nbyt ("N by T"): how to split a PPO batch into parallel environments and rollout steps.

The three functions, which the commands of the same names call:

- `advise(env, batch=2048)` trains and measures, and says which N x T to use.
- `probe(env, stage, batch=2048)` measures every N x T on one frozen policy.
- `run_sweep(...)` trains every N x T with many seeds.

`Layout` holds the sizes of an update; every error is an `NbytError`. Bridges to other libraries are
in `nbyt.integrations` (`sb3`, `torch`, `jax`), their settings in `nbyt.dialects`.

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
    from nbyt.sweeps.run import run_sweep as run_sweep

__version__ = "0.1.0"

_MODULE_OF = {
    "Layout": "nbyt.layout",
    "NbytError": "nbyt.errors",
    "advise": "nbyt.advice.run",
    "probe": "nbyt.measure.probe",
    "run_sweep": "nbyt.sweeps.run",
}
_PACKAGES = (
    "advice",
    "collect",
    "dialects",
    "envs",
    "exact",
    "gradients",
    "integrations",
    "measure",
    "minibatch",
    "policy",
    "report",
    "results",
    "stats",
    "store",
    "sweeps",
    "training",
)

__all__ = ["Layout", "NbytError", "__version__", "advise", "probe", "run_sweep", *_PACKAGES]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(importlib.import_module(_MODULE_OF[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"nbyt.{name}")
    raise AttributeError(f"module 'nbyt' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
