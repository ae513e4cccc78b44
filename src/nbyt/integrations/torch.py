"""GradientProbe for any torch policy, in a training loop of the user's own."""

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from nbyt.errors import UsageError
from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_policy import Module, TorchPolicy, frozen, joined, require_scores
from nbyt.integrations.base import LoopProbe

Rows = Callable[..., Any]


class GradientProbe(LoopProbe):
    """Measure the gradients of batches, with a policy given as functions of R rows of tensors.

    Parameters
    ----------
    log_prob
        ``log_prob(obs, actions) -> [R]``.
    value
        ``value(obs) -> [R]``.
    entropy
        ``entropy(obs) -> [R]``; needed only with an entropy_coefficient.
    module
        The module that holds the parameters. It is found if the functions are methods of it, or
        use it by name.
    out
        A folder that keeps every measurement, for `nbyt report`.
    title
        The title of the report.
    gamma, lam, value_coefficient, entropy_coefficient, normalise
        Those of the training's loss; value_coefficient weighs half the squared error.

    Examples
    --------
    >>> import numpy as np, torch
    >>> actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    >>> def log_prob(obs, actions):
    ...     return torch.distributions.Categorical(logits=actor(obs)).log_prob(actions)
    >>> def value(obs):
    ...     return critic(obs)[:, 0]
    >>> probe = GradientProbe(log_prob=log_prob, value=value)
    >>> rng = np.random.default_rng(0)
    >>> obs = rng.normal(size=(16, 8, 4)).astype("float32")  # [steps, envs, ...]
    >>> actions, rewards = rng.integers(2, size=(16, 8)), rng.normal(size=(16, 8))
    >>> ends, values = np.zeros((16, 8), bool), np.zeros((16, 8))
    >>> measured = probe.measure(obs, actions, rewards, ends, ends, values)
    >>> measured.units, probe.updates
    (8, 1)
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
        module = module if module is not None else _module_of(log_prob, value, entropy)
        if not isinstance(module, Module):
            raise UsageError(
                f"module is {type(module).__name__}, not a torch.nn.Module",
                where="module",
                fix="give the module whose parameters log_prob and value are computed with",
            )
        require_scores(module)
        loss = (value_coefficient, entropy_coefficient, normalise)
        super().__init__(gamma, lam, *loss, out=out, title=title, library="torch", entropy=entropy)
        self._policy = TorchPolicy(module, log_prob, value, entropy)
        self._engine: TorchEngine | None = None

    def frozen(self) -> AbstractContextManager[Any]:
        return frozen(self._policy.module)

    def engine(self, row: tuple[np.ndarray, np.ndarray]) -> TorchEngine:
        if self._engine is None:
            self._engine = TorchEngine(self._policy, row)
        return self._engine


def _module_of(*functions: Rows | None) -> Module:
    """Return the modules that the functions are methods of, or use by name, as one."""
    modules: dict[int, Module] = {}
    for function in functions:
        used = [function, getattr(function, "__self__", None)]
        if inspect.isfunction(function):
            names = inspect.getclosurevars(function)
            used += [*names.nonlocals.values(), *names.globals.values()]
        modules |= {id(thing): thing for thing in used if isinstance(thing, Module)}
    if not modules:
        raise UsageError(
            "log_prob and value use no torch module by name: it is not known whose parameters are "
            "trained",
            where="module",
            fix="give module=; several go into one torch.nn.ModuleList",
        )
    return joined(list(modules.values()))
