"""GradientProbe for any JAX policy, in a training loop of the user's own."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from nbyt.errors import UsageError
from nbyt.gradients.engines.jax import FunctionEngine
from nbyt.integrations.base import LoopProbe
from nbyt.measure.live import BatchMeasurement

Rows = Callable[..., Any]


class GradientProbe(LoopProbe):
    """Measure the gradients of batches, with a policy given as functions of parameters and R rows.

    The functions treat each row by itself, all in JAX, and are traced once: what changes during
    training comes with params, and what of it is not trained, such as moments of the observations,
    must pass through `jax.lax.stop_gradient`.

    Parameters
    ----------
    log_prob
        ``log_prob(params, obs, actions) -> [R]``.
    value
        ``value(params, obs) -> [R]``.
    entropy
        ``entropy(params, obs) -> [R]``; needed only with an entropy_coefficient.
    out
        A folder that keeps every measurement, for `nbyt report`.
    title
        The title of the report.
    gamma, lam, value_coefficient, entropy_coefficient, normalise
        Those of the training's loss; value_coefficient weighs half the squared error.

    Examples
    --------
    >>> import jax, jax.numpy as jnp, numpy as np
    >>> def log_prob(params, obs, actions):
    ...     logits = jax.nn.log_softmax(obs @ params["actor"])
    ...     return jnp.take_along_axis(logits, actions[:, None], axis=1)[:, 0]
    >>> def value(params, obs):
    ...     return obs @ params["critic"]
    >>> probe = GradientProbe(log_prob=log_prob, value=value)
    >>> params = {"actor": jnp.ones((4, 2)), "critic": jnp.ones(4)}
    >>> rng = np.random.default_rng(0)
    >>> obs = rng.normal(size=(16, 8, 4)).astype("float32")  # [steps, envs, ...]
    >>> actions, rewards = rng.integers(2, size=(16, 8)), rng.normal(size=(16, 8))
    >>> ends, values = np.zeros((16, 8), bool), np.zeros((16, 8))
    >>> measured = probe.measure(params, obs, actions, rewards, ends, ends, values)
    >>> measured.units, probe.updates
    (8, 1)
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
            if not callable(function) or not isinstance(function, Hashable):
                raise UsageError(
                    f"{name} is {type(function).__name__}, not a function",
                    where=name,
                    fix="give a function of parameters and rows, such as one that calls apply",
                )
        loss = (value_coefficient, entropy_coefficient, normalise)
        super().__init__(gamma, lam, *loss, out=out, title=title, library="jax", entropy=entropy)
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
        """Measure the gradients of a batch at `params`, the weights that collected it.

        params: any tree of arrays; where actor and critic have separate parameters, a tree of both,
        as {"actor": ..., "critic": ...}. Arrays and keywords are those of `LoopProbe.measure`.
        """
        self._params = params
        try:
            return super().measure(obs, actions, rewards, terminated, truncated, values, **more)
        finally:
            # An old copy of the weights would stay in memory until the next batch.
            self._params = None

    def engine(self, row: tuple[np.ndarray, np.ndarray]) -> FunctionEngine:
        return FunctionEngine(self._params, **self._functions, row=row)
