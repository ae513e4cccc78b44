"""Any torch policy: the gradient of its own batches, measured in the user's training loop.

probe = GradientProbe(log_prob=log_prob, value=value)
print(probe.measure(obs, actions, rewards, terminated, truncated, values))
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from nbyt.errors import UsageError
from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_policy import Module, TorchPolicy, frozen, joined, require_scores
from nbyt.integrations.loops import LoopProbe, require_entropy
from nbyt.measure.live import BatchMeasurement

Rows = Callable[..., Any]


class GradientProbe(LoopProbe):
    """Measures batches of a policy that is given as functions of R rows of tensors.

    log_prob(obs, actions) -> [R]; value(obs) -> [R]; entropy(obs) -> [R], needed only with an
    entropy_coefficient. module: what holds the parameters; found by itself where the functions
    are methods of it, or use it by name. gamma, lam, value_coefficient (of the halved squared
    error), entropy_coefficient, normalise: those of the training's loss. out: a folder that keeps
    every measurement, for `nbyt report`.
    """

    def __init__(
        self,
        *,
        log_prob: Rows,
        value: Rows,
        entropy: Rows | None = None,
        module: Any = None,
        gamma: float = 0.99,
        lam: float = 0.95,
        value_coefficient: float = 0.5,
        entropy_coefficient: float = 0.0,
        normalise: bool = True,
        out: Any = None,
        title: str = "a training in torch",
    ) -> None:
        found = module if module is not None else _found_in(log_prob, value, entropy)
        _require_module(found)
        require_entropy(entropy, entropy_coefficient)
        super().__init__(
            gamma=gamma,
            lam=lam,
            value_coefficient=value_coefficient,
            entropy_coefficient=entropy_coefficient,
            normalise=normalise,
            out=out,
            title=title,
            library="torch",
        )
        self._policy = TorchPolicy(found, log_prob, value, entropy)
        self._engine: TorchEngine | None = None

    def measure(self, *arrays: Any, **more: Any) -> BatchMeasurement:
        """What the batch says about its gradients; see `LoopProbe.measure` for its arguments."""
        with frozen(self._policy.module):
            return super().measure(*arrays, **more)

    def engine(self, row: tuple[np.ndarray, np.ndarray]) -> TorchEngine:
        """The engine of the policy; `row` is one step of it."""
        if self._engine is None:
            self._engine = TorchEngine(self._policy, row)
        return self._engine


def _require_module(module: Any) -> None:
    if not isinstance(module, Module):
        raise UsageError(
            f"module is {type(module).__name__}, not a torch.nn.Module",
            where="module",
            fix="give the module whose parameters log_prob and value are computed with",
        )
    require_scores(module)


def _found_in(*functions: Rows | None) -> Module:
    """The modules that the functions are methods of, or use by name, as one."""
    found: dict[int, Module] = {}
    for function in functions:
        if function is None:
            continue
        if isinstance(function, Module):
            found[id(function)] = function
            continue
        if isinstance(owner := getattr(function, "__self__", None), Module):
            found[id(owner)] = owner
            continue
        if inspect.isfunction(function):
            used = inspect.getclosurevars(function)
            for thing in (*used.nonlocals.values(), *used.globals.values()):
                if isinstance(thing, Module):
                    found[id(thing)] = thing
    if not found:
        raise UsageError(
            "log_prob and value use no torch module by name: it is not known whose parameters are "
            "trained",
            where="module",
            fix="give module=; several go into one torch.nn.ModuleList",
        )
    return joined(list(found.values()))
