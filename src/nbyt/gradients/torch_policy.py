"""A policy in torch: functions over modules that are alive in the user's process.

Parameters are read where they are and never written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nbyt.errors import UsageError
from nbyt.gradients.torch_package import Module, Tensor, torch

Rows = Callable[..., Tensor]


@dataclass(frozen=True)
class TorchPolicy:
    """A policy and a critic in torch, as functions of R rows.

    module: what holds their parameters. log_prob(observation, action) and value(observation) give
    [R]; entropy(observation) too, where there is one. tensors: NumPy rows as the functions take
    them (dtype, unpacking); without, as tensors of their own kind.
    """

    module: Module
    log_prob: Rows
    value: Rows
    entropy: Rows | None = None
    tensors: Callable[[np.ndarray, np.ndarray], tuple[Any, Tensor]] | None = None

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(iter(self.module.parameters())).device

    def rows(self, observation: np.ndarray, action: np.ndarray) -> tuple[Any, Tensor]:
        """Observations and actions as the functions take them."""
        if self.tensors is not None:
            return self.tensors(observation, action)
        return self.tensor(observation), self.tensor(action)

    def tensor(self, array: np.ndarray) -> Tensor:
        """A NumPy array on the module's device."""
        return torch.as_tensor(np.require(array, requirements=["C", "W"]), device=self.device)


def joined(modules: list[Module]) -> Module:
    """Several modules as one."""
    return modules[0] if len(modules) == 1 else torch.nn.ModuleList(modules)


def require_scores(module: Module, *, trained_here: bool = False) -> None:
    """Nothing, where the score of a single step can be had of a module.

    trained_here: it is some other code that puts it into training mode.
    """
    if not any(p.requires_grad for p in module.parameters()):
        raise UsageError(
            "the module has no parameter that is trained", where="module", fix="give another"
        )
    for name, one in module.named_modules():
        if isinstance(one, torch.nn.RNNBase | torch.nn.RNNCellBase):
            raise UsageError(
                f"'{name}' is recurrent: the score of a step depends on the steps before it",
                where="module",
                fix="measure a policy without memory",
            )
        if isinstance(one, torch.nn.modules.batchnorm._BatchNorm) and (
            trained_here or one.training
        ):
            raise UsageError(
                f"'{name}' normalises over the batch: a single step has no score of its own",
                where="module",
                fix="use LayerNorm",
            )


def weights_of(module: Module) -> dict[str, np.ndarray]:
    """The module's parameters as arrays, by name."""
    return {name: p.detach().cpu().numpy() for name, p in module.named_parameters()}


def pointing(module: Module, direction: np.ndarray) -> float | None:
    """The cosine of a step against the module's `.grad` with a direction; None where one is 0.

    direction: among all trained parameters, as `TorchEngine.gradient` gives them.
    """
    trained = [p for p in module.parameters() if p.requires_grad]
    pieces = [
        (torch.zeros_like(p) if p.grad is None else p.grad).detach().reshape(-1) for p in trained
    ]
    flat = torch.cat(pieces).cpu().numpy().astype(float)
    length, goal = float(np.linalg.norm(flat)), float(np.linalg.norm(direction))
    return None if length == 0 or goal == 0 else float(-(flat @ direction) / (length * goal))
