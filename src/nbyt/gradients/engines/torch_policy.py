"""A policy in torch: functions over modules that are alive in the user's process.

Parameters are read where they are and never written.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from nbyt.errors import MissingExtraError, UsageError

try:
    import torch
except ImportError as error:
    raise MissingExtraError("torch", "sb3") from error

Module = torch.nn.Module
Tensor = torch.Tensor

__all__ = ["Module", "Tensor", "torch"]


@contextmanager
def undisturbed(seed: int) -> Iterator[None]:
    """Return randomness of its own inside; outside, every generator goes on as if nothing had been.

    Those of Python, of NumPy and of torch, on all its devices: envs and policies may use any.
    """
    python, numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            random.seed(seed)
            np.random.seed(seed % 2**32)
            torch.manual_seed(seed)
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


@contextmanager
def frozen(module: Module) -> Iterator[None]:
    """Run the module as it acts: without dropout, generators and modes restored after."""
    modes = [(one, one.training) for one in module.modules()]
    module.eval()
    try:
        with undisturbed(0):
            yield
    finally:
        for one, training in modes:
            one.training = training


@contextmanager
def quietly() -> Iterator[None]:
    """Turn gradients on, and checks of distributions off: they branch on values.

    Gradients that the user has under way are left alone: nothing here writes to `.grad`.
    """
    before = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        with torch.enable_grad():
            yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(before)


def without_gradients() -> Any:
    return torch.no_grad()


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
        return next(iter(self.module.parameters())).device

    def rows(self, observation: np.ndarray, action: np.ndarray) -> tuple[Any, Tensor]:
        """Return observations and actions as the functions take them."""
        if self.tensors is not None:
            return self.tensors(observation, action)
        return self.tensor(observation), self.tensor(action)

    def tensor(self, array: np.ndarray) -> Tensor:
        """Return a NumPy array as a tensor on the module's device."""
        return torch.as_tensor(np.require(array, requirements=["C", "W"]), device=self.device)


def joined(modules: list[Module]) -> Module:
    return modules[0] if len(modules) == 1 else torch.nn.ModuleList(modules)


def require_scores(module: Module, *, trained_here: bool = False) -> None:
    """Raise unless the score of a single step can be had of a module.

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
    """Return the module's parameters as arrays, by name."""
    return {name: p.detach().cpu().numpy() for name, p in module.named_parameters()}


def pointing(module: Module, direction: np.ndarray) -> float | None:
    """Return the cosine of a step against `.grad` with a direction; None where one is 0.

    direction: among all trained parameters, as `TorchEngine.gradient` gives them.
    """
    trained = [p for p in module.parameters() if p.requires_grad]
    pieces = [
        (torch.zeros_like(p) if p.grad is None else p.grad).detach().reshape(-1) for p in trained
    ]
    flat = torch.cat(pieces).cpu().numpy().astype(float)
    length, goal = float(np.linalg.norm(flat)), float(np.linalg.norm(direction))
    return None if length == 0 or goal == 0 else float(-(flat @ direction) / (length * goal))


class _Call(Module):
    """A function over a module, as a module: its parameters can then be handed in."""

    def __init__(self, module: Module, function: Rows) -> None:
        super().__init__()
        self.module, self._function = module, function

    def forward(self, *rows: Any) -> Tensor:
        return self._function(*rows).reshape(-1)


@dataclass(frozen=True)
class TorchFunctions:
    """What a policy gives for each part. row: one step, from which is seen what reaches what."""

    policy: TorchPolicy
    row: tuple[np.ndarray, np.ndarray]
    slow: list[str] = field(default_factory=list, repr=False)
    """Parts that torch cannot batch."""

    @cached_property
    def reached(self) -> dict[str, tuple[str, ...]]:
        """Return the parameters that each part depends on, by name."""
        names, tensors = list(self.trained), list(self.trained.values())
        found = {}
        for part, call in self.calls.items():
            with quietly():
                output = call(*self.inputs(part, *self.policy.rows(*self.row)))
                _require_rows(output, part)
                gradients = _gradients(output, tensors)
            found[part] = tuple(
                name for name, g in zip(names, gradients, strict=True) if g is not None
            )
            if not found[part]:
                raise UsageError(
                    f"no parameter of the module reaches the {part}",
                    where=part,
                    fix="give the module whose parameters it is computed with, and detach nothing",
                )
        return found

    @cached_property
    def trained(self) -> dict[str, Tensor]:
        """Return the module's parameters that are trained, by name."""
        named = self.policy.module.named_parameters()
        return {name: p for name, p in named if p.requires_grad}

    @cached_property
    def _slots(self) -> dict[str, str]:
        """Return every place inside a call that holds a trained parameter, with the parameter's
        name.

        A parameter may stand in several modules, and a module under several names; each place
        must be filled, and none twice: torch would not find its way back.
        """
        names = {id(p): name for name, p in self.trained.items()}
        return {
            f"module.{path}.{own}" if path else f"module.{own}": names[id(p)]
            for path, module in self.policy.module.named_modules()
            for own, p in module.named_parameters(recurse=False)
            if id(p) in names
        }

    @cached_property
    def calls(self) -> dict[str, _Call]:
        policy = self.policy
        functions = {"actor": policy.log_prob, "critic": policy.value, "entropy": policy.entropy}
        return {part: _Call(policy.module, f) for part, f in functions.items() if f is not None}

    def called(self, part: str, trained: dict[str, Tensor], rows: tuple[Any, ...]) -> Tensor:
        """Return a part's output with these tensors in place of the parameters they name."""
        given = {slot: trained[name] for slot, name in self._slots.items() if name in trained}
        return torch.func.functional_call(self.calls[part], given, rows, tie_weights=False)

    def inputs(self, part: str, observation: Any, action: Tensor) -> tuple[Any, ...]:
        return (observation, action) if part == "actor" else (observation,)

    def detached(self, names: tuple[str, ...]) -> dict[str, Tensor]:
        return {name: self.trained[name].detach() for name in names}

    def scores(
        self, part: str, observation: Any, action: Tensor, names: tuple[str, ...] | None = None
    ) -> dict[str, Tensor]:
        """Return every step's gradient of one part to the parameters it depends on, or some."""
        names = self.reached[part] if names is None else names
        rows = self.inputs(part, observation, action)

        def one(trained: dict[str, Tensor], *row: Any) -> Tensor:
            return self.called(part, trained, _map(lambda x: x[None], row))[0]

        if part not in self.slow:
            try:
                every = torch.func.vmap(torch.func.grad(one), in_dims=(None, *[0] * len(rows)))
                return every(self.detached(names), *rows)
            except torch.OutOfMemoryError:
                raise
            except RuntimeError:
                # Code that torch cannot batch, such as a decision on a value: row by row then.
                self.slow.append(part)
        return self._row_by_row(part, names, rows)

    def gradients(self, part: str, rows: tuple[Any, Tensor]) -> dict[int, Tensor | None]:
        """Return the gradient of one part's sum over rows to every trained parameter."""
        output = self.calls[part](*self.inputs(part, *rows))
        tensors = list(self.trained.values())
        return dict(zip(map(id, tensors), _gradients(output, tensors), strict=True))

    def _row_by_row(
        self, part: str, names: tuple[str, ...], rows: tuple[Any, ...]
    ) -> dict[str, Tensor]:
        tensors = [self.trained[name] for name in names]
        found: list[tuple[Tensor, ...]] = []
        for place in range(len(first(rows[0]))):
            row = _map(lambda x: x[place : place + 1], rows)  # noqa: B023 (used at once)
            own = _gradients(self.calls[part](*row), tensors)
            pairs = zip(own, tensors, strict=True)
            found.append(tuple(torch.zeros_like(p) if g is None else g for g, p in pairs))
        columns = zip(*found, strict=True)
        return {name: torch.stack(own) for name, own in zip(names, columns, strict=True)}


def _map(function: Callable[[Tensor], Tensor], tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _map(function, one) for name, one in tree.items()}
    if isinstance(tree, tuple):
        return tuple(_map(function, one) for one in tree)
    return function(tree)


def first(tree: Any) -> Tensor:
    """Return the first tensor of a tensor, or of a dictionary of them."""
    return first(next(iter(tree.values()))) if isinstance(tree, dict) else tree


def _gradients(output: Tensor, tensors: list[Tensor]) -> list[Tensor | None]:
    """Return the gradient to each tensor, None for those that the output does not depend on."""
    if not output.requires_grad:
        return [None] * len(tensors)
    return list(torch.autograd.grad(output.sum(), tensors, allow_unused=True))


def _require_rows(output: Tensor, part: str) -> None:
    if output.shape != (1,):
        raise UsageError(
            f"the {part} gives {tuple(output.shape)} numbers for one step, not one",
            where=part,
            fix="give a function of R rows that returns R numbers",
        )
