"""Layers of a torch module: inputs and signals of its linear maps and convolutions.

The gradient of such a layer at one step is made of the two, so a network of millions of weights is
measured without a gradient ever being written down. What is no such layer (a vector of its own, a
normalisation) is small, and its scores are written down.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from nbyt.gradients.engines.torch_policy import (
    Module,
    Tensor,
    TorchFunctions,
    first,
    quietly,
    torch,
)
from nbyt.gradients.products import Layer

# Single precision, and sums in another order.
_CLOSE = 1e-3


class Trace(NamedTuple):
    """A module at R steps: inputs with a 1 for the bias, [R, Q, I], and signals [R, Q, O]."""

    inputs: Tensor
    signal: Tensor


def torch_layers(
    functions: TorchFunctions, rows: tuple[Any, Tensor], parts: tuple[str, ...]
) -> list[Layer]:
    """Return all layers at R steps, with the signals of `parts`, as NumPy arrays."""
    modules = layered(functions)
    with quietly():
        traces = {part: _traces(functions, part, rows, modules) for part in parts}
        others = {part: _others(functions, part, rows, modules) for part in parts}
    found = []
    for module in modules:
        own = {part: trace[module] for part, trace in traces.items() if module in trace}
        if own:
            signals = {part: _numpy(trace.signal) for part, trace in own.items()}
            found.append(_layer(_numpy(next(iter(own.values())).inputs), signals))
    count = len(first(rows[0]))
    for name in dict.fromkeys(name for one in others.values() for name in one):
        known = {part: one[name] for part, one in others.items() if name in one}
        signals = {part: _numpy(one).reshape(count, 1, -1) for part, one in known.items()}
        found.append(_layer(np.ones((count, 1, 1), np.float32), signals))
    return found


def can_be_layered(functions: TorchFunctions) -> bool:
    """Return whether layers give the gradients that torch gives: held against them at one step.

    They do not where a parameter is used beside its module, or where a module sees something else
    than one row for each step.
    """
    rows, modules = functions.policy.rows(*functions.row), layered(functions)
    shapes: dict[Module, set[Any]] = {}
    for part in functions.calls:
        with quietly():
            try:
                traces = _traces(functions, part, rows, modules)
            except _NotRowsError:
                return False
            true = functions.gradients(part, rows)
        for module in modules:
            if module in traces:
                shapes.setdefault(module, set()).add(traces[module].inputs.shape)
            if not _alike(_gradient(traces.get(module)), _stacked(module, true)):
                return False
    return all(len(own) == 1 for own in shapes.values())


def layered(functions: TorchFunctions) -> list[Module]:
    """Return the modules taken by inputs and signals: known ones that share no parameter."""
    every = list(functions.policy.module.modules())
    own = {one: list(one.parameters(recurse=False)) for one in every}
    uses = [id(parameter) for some in own.values() for parameter in some]
    return [
        module
        for module in every
        if _known(module) and all(p.requires_grad and uses.count(id(p)) == 1 for p in own[module])
    ]


class _NotRowsError(Exception):
    """A module was called with something else than a row for each step."""


def _known(module: Module) -> bool:
    if isinstance(module, torch.nn.Conv2d):
        zeros = module.padding_mode == "zeros" and not isinstance(module.padding, str)
        return zeros and module.groups == 1
    return isinstance(module, torch.nn.Linear)


def _traces(
    functions: TorchFunctions, part: str, rows: tuple[Any, Tensor], modules: list[Module]
) -> dict[Module, Trace]:
    """Trace the modules that a part's gradient reaches; calls of one lie next to each other."""
    passed: list[tuple[Module, Tensor, Tensor]] = []
    with _watched(modules, passed):
        output = functions.calls[part](*functions.inputs(part, *rows))
    signals = torch.autograd.grad(output.sum(), [out for *_, out in passed], allow_unused=True)
    found: dict[Module, Trace] = {}
    for (module, inputs, _), signal in zip(passed, signals, strict=True):
        if signal is None:
            continue
        if len(inputs) != len(output):
            raise _NotRowsError
        trace = Trace(_inputs(module, inputs.detach()), _signal(module, signal))
        before = found.get(module)
        found[module] = (
            trace
            if before is None
            else Trace(*(torch.cat(pair, dim=1) for pair in zip(before, trace, strict=True)))
        )
    return found


@contextmanager
def _watched(modules: list[Module], passed: list[tuple[Module, Tensor, Tensor]]) -> Iterator[None]:
    """Record what goes through the modules; they go on with a copy that they may overwrite."""

    def note(module: Module, given: Any, output: Tensor) -> Tensor:
        passed.append((module, given[0], output))
        return output.clone()

    hooks = [module.register_forward_hook(note) for module in modules]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _inputs(module: Module, inputs: Tensor) -> Tensor:
    """Return [R, Q, I]: for a convolution, the patch under the kernel at every pixel."""
    if isinstance(module, torch.nn.Conv2d):
        around: Any = module.padding
        unfolded = torch.nn.functional.unfold(
            inputs, module.kernel_size, module.dilation, around, module.stride
        )
        flat = unfolded.transpose(1, 2)
    else:
        flat = inputs.reshape(len(inputs), -1, inputs.shape[-1])
    if module.bias is None:
        return flat
    return torch.cat([flat, torch.ones_like(flat[..., :1])], dim=-1)


def _signal(module: Module, signal: Tensor) -> Tensor:
    if isinstance(module, torch.nn.Conv2d):
        return signal.flatten(2).transpose(1, 2)
    return signal.reshape(len(signal), -1, signal.shape[-1])


def _others(
    functions: TorchFunctions, part: str, rows: tuple[Any, Tensor], modules: list[Module]
) -> dict[str, Tensor]:
    """Return scores to the parameters that no layer holds."""
    held = {id(p) for module in modules for p in module.parameters(recurse=False)}
    names = tuple(n for n in functions.reached[part] if id(functions.trained[n]) not in held)
    return functions.scores(part, *rows, names=names) if names else {}


def _gradient(trace: Trace | None) -> Tensor | None:
    return None if trace is None else torch.einsum("rqi,rqo->io", trace.inputs, trace.signal)


def _stacked(module: Module, gradients: dict[int, Tensor | None]) -> Tensor | None:
    """Return the same as torch has it, weight and bias below each other."""
    found = [gradients[id(p)] for p in module.parameters(recurse=False)]
    if any(one is None for one in found):
        return None
    weight = found[0].flatten(1).T  # type: ignore[union-attr]
    return weight if len(found) == 1 else torch.cat([weight, found[1][None]])  # type: ignore[index]


def _alike(made: Tensor | None, true: Tensor | None) -> bool:
    if made is None or true is None:
        return made is true
    scale = float(true.abs().max())
    return bool(((made - true).abs() <= _CLOSE * scale + 1e-12).all())


def _layer(inputs: np.ndarray, signals: dict[str, np.ndarray]) -> Layer:
    return Layer(inputs, signals)  # type: ignore[arg-type]


def _numpy(tensor: Tensor) -> np.ndarray:
    return tensor.detach().float().cpu().numpy()
