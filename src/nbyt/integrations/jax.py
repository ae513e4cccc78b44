"""Any JAX policy: the gradient of its own batches, measured in the user's training loop.

probe = GradientProbe(log_prob=log_prob, value=value)
print(probe.measure(params, obs, actions, rewards, terminated, truncated, values))
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from nbyt.errors import UsageError
from nbyt.gradients.engines.jax import FunctionEngine
from nbyt.integrations.loops import LoopProbe, require_entropy
from nbyt.measure.live import BatchMeasurement

Rows = Callable[..., Any]


class GradientProbe(LoopProbe):
    """Measures batches of a policy that is given as functions of parameters and R rows.

    log_prob(params, obs, actions) -> [R]; value(params, obs) -> [R]; entropy(params, obs) -> [R],
    needed only with an entropy_coefficient; each row by itself, and all in JAX. They are traced
    once: what changes during training comes with params, and what of it is not
    trained, such as moments of the observations, must pass through `jax.lax.stop_gradient`.
    gamma, lam, value_coefficient (of the halved squared error), entropy_coefficient, normalise:
    those of the training's loss. out: a folder that keeps every measurement, for `nbyt report`.
    """

    def __init__(
        self,
        *,
        log_prob: Rows,
        value: Rows,
        entropy: Rows | None = None,
        gamma: float = 0.99,
        lam: float = 0.95,
        value_coefficient: float = 0.5,
        entropy_coefficient: float = 0.0,
        normalise: bool = True,
        out: Any = None,
        title: str = "a training in JAX",
    ) -> None:
        functions = {"log_prob": log_prob, "value": value, "entropy": entropy}
        self._functions = {name: f for name, f in functions.items() if f is not None}
        for name, function in self._functions.items():
            _require_function(name, function)
        require_entropy(entropy, entropy_coefficient)
        super().__init__(
            gamma=gamma,
            lam=lam,
            value_coefficient=value_coefficient,
            entropy_coefficient=entropy_coefficient,
            normalise=normalise,
            out=out,
            title=title,
            library="jax",
        )
        self._params: Any = None

    # JAX functions hold no weights, unlike the modules of other libraries: they come first here.
    def measure(  # type: ignore[override]
        self,
        params: Any,
        obs: Any,
        actions: Any,
        rewards: Any,
        terminated: Any,
        truncated: Any,
        values: Any,
        **more: Any,
    ) -> BatchMeasurement:
        """What the batch says about its gradients at `params`, the weights that collected it.

        params: any tree of arrays; where actor and critic have parameters apart, a tree of both,
        as {"actor": ..., "critic": ...}. Arrays and keywords are those of `LoopProbe.measure`.
        """
        self._params = params
        try:
            return super().measure(obs, actions, rewards, terminated, truncated, values, **more)
        finally:
            # An old copy of the weights would stay in memory until the next batch.
            self._params = None

    def engine(self, row: tuple[np.ndarray, np.ndarray]) -> FunctionEngine:
        """The engine of the policy at the weights that are measured; `row` is one step of it."""
        return FunctionEngine(self._params, **self._functions, row=row)


def _require_function(name: str, function: Any) -> None:
    if not callable(function) or not isinstance(function, Hashable):
        raise UsageError(
            f"{name} is {type(function).__name__}, not a function",
            where=name,
            fix="give a function of parameters and rows, such as one that calls apply",
        )
