"""nbyt ("N by T"): how to split a PPO batch into parallel environments and rollout steps.

Each of these functions is a command of the same name:

- `advise(env, batch=2048)` races a few layouts, and says which N x T to use.
- `sweep(env, batch=2048)` trains every N x T with many seeds.
- `train(env, envs=8, steps=256)` trains with one layout, and keeps stages.
- `probe(env, stage, batch=2048)` measures every N x T on one frozen policy.
- `explain`, `translate` and `compare` answer questions about other libraries' settings.
- `audit(sampler, batch=2048, minibatch=64, epochs=4)` checks how mini-batches are drawn.
- `load(folder)` reads what any of them has kept.

`Layout` holds the sizes of an update, `PPOSettings` how PPO learns; every error is an `NbytError`.
Bridges to other libraries are in `nbyt.integrations` (`sb3`, `torch`, `jax`).

Names are resolved on first use, so that importing nbyt imports no JAX.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbyt import dialects as dialects
    from nbyt import envs as envs
    from nbyt import exact as exact
    from nbyt import policy as policy
    from nbyt.api.questions import compare, explain, translate
    from nbyt.api.stored import load
    from nbyt.api.work import advise, audit, probe, sweep, train
    from nbyt.errors import NbytError as NbytError
    from nbyt.layout import Layout as Layout
    from nbyt.training.plan import PPOSettings as PPOSettings

__version__ = "0.1.0"

_MODULE_OF = {
    "Layout": "nbyt.layout",
    "NbytError": "nbyt.errors",
    "PPOSettings": "nbyt.training.plan",
    **dict.fromkeys(("advise", "audit", "probe", "sweep", "train"), "nbyt.api.work"),
    **dict.fromkeys(("compare", "explain", "translate"), "nbyt.api.questions"),
    "load": "nbyt.api.stored",
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

__all__ = [
    "Layout",
    "NbytError",
    "PPOSettings",
    "__version__",
    "advise",
    "audit",
    "compare",
    "explain",
    "load",
    "probe",
    "sweep",
    "train",
    "translate",
    *_PACKAGES,
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(importlib.import_module(_MODULE_OF[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"nbyt.{name}")
    raise AttributeError(f"module 'nbyt' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
