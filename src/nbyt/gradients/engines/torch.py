"""The engine of policies written in torch.

Scores of a small network are taken by `torch.func`, written down, and summed in torch: nothing has
to be compiled. A large one is taken by its layers' inputs and signals, as nbyt's own policies are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np

from nbyt.gradients.engines import Norms, Rows, Scores, StepWeights, Vector
from nbyt.gradients.engines.own import BYTES, COPIES, batch_norm_sq_layers
from nbyt.gradients.engines.torch_layers import can_be_layered, torch_layers
from nbyt.gradients.engines.torch_policy import Tensor, TorchFunctions, TorchPolicy, quietly, torch
from nbyt.gradients.products import PARTS, Layer
from nbyt.gradients.slab_sums import Lengths, Slab, SlabSums, sum_slab_layers
from nbyt.gradients.spec import Footprint, GradientSpec, objective_parts
from nbyt.gradients.written import batch_norm_sq, sum_written

# Parameters from which on writing scores down costs more than compiling a program for layers.
LARGE = 50_000
# Numbers kept for each number of a row's scores: the scores, their products, and one copy.
_WRITTEN_COPIES = 4
# Without a compiled program every slab has a cost of its own, so few and large ones are best; but
# the sums go over a slab's scores many times, and are slow where those leave the cache: measured.
_CHAINS = 32
_SLAB = 2**27
# The vectors of a large network outweigh its layers: fewer chains in a slab leave more steps.
_LAYERED_CHAINS = 4
# Rows that a plain gradient keeps at once.
_ROWS = 512


@dataclass(frozen=True)
class TorchEngine:
    """Gradients of a policy in torch. row: one step, from which is seen what reaches what."""

    policy: TorchPolicy
    row: tuple[np.ndarray, np.ndarray]

    @cached_property
    def functions(self) -> TorchFunctions:
        return TorchFunctions(self.policy, self.row)

    @property
    def shared(self) -> bool:
        reached = self.functions.reached
        return bool(set(reached["actor"]) & set(reached["critic"]))

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Return how many parameters actor, critic and both together have."""
        reached, trained = self.functions.reached, self.functions.trained
        both = tuple(dict.fromkeys((*reached["actor"], *reached["critic"])))
        named = {"actor": reached["actor"], "critic": reached["critic"], "total": both}
        return {name: sum(trained[one].numel() for one in own) for name, own in named.items()}

    @cached_property
    def by_layers(self) -> bool:
        """Return whether the network is large, so that layers give its gradients."""
        return self.sizes["total"] >= LARGE and can_be_layered(self.functions)

    def footprint(self, spec: GradientSpec) -> Footprint:
        sizes, parts = self.sizes, objective_parts(spec)
        vectors = sum(sizes[name] for name in parts)
        if self.by_layers:
            used = tuple(part for part in PARTS if part in self.functions.calls)
            rows = torch_layers(self.functions, self.policy.rows(*self.row), used)
            numbers = sum(leaf.size for leaf in jax.tree.leaves(rows))
            return Footprint(numbers * COPIES * BYTES, vectors, _LAYERED_CHAINS)
        row = sum(sizes[name] * len(own) for name, own in parts.items())
        return Footprint(row * _WRITTEN_COPIES * BYTES, vectors, _CHAINS, _SLAB)

    def sum_slab(self, slab: Slab, steps: Lengths, lags: Lengths) -> dict[str, SlabSums]:
        if self.by_layers:
            rows = self._layers(slab.observation, slab.action, slab.parts)
            return jax.device_get(sum_slab_layers(rows, slab.fragment, slab.whole, steps, lags))
        found = {}
        for name, scores, fragment, whole in self._objectives(slab):
            made = sum_written(torch, scores, fragment, whole, steps, lags)
            found[name] = SlabSums(*map(_numpy, made))
        return found

    def batch_norm_sq(self, slab: Slab, steps: Lengths) -> dict[str, Norms]:
        if self.by_layers:
            seen, done = np.swapaxes(slab.observation, 0, 1), np.swapaxes(slab.action, 0, 1)
            rows = self._layers(seen, done, slab.parts)
            return jax.device_get(batch_norm_sq_layers(rows, slab.fragment, steps))
        return {
            name: _numpy(batch_norm_sq(torch, scores, fragment, steps))
            for name, scores, fragment, _ in self._objectives(slab)
        }

    def gradient(self, observation: Rows, action: Rows, weights: StepWeights) -> Vector:
        total: Any = 0.0
        for first in range(0, len(observation), _ROWS):
            some = slice(first, first + _ROWS)
            own = {part: weight[some] for part, weight in weights.items()}
            total = total + self._gradient(observation[some], action[some], own)
        return total

    def along(self, observation: Rows, action: Rows, direction: Vector) -> Scores:
        functions = self.functions
        rows = functions.inputs("actor", *self.policy.rows(observation, action))
        vector = self.policy.tensor(direction)
        pieces = torch.split(vector, [p.numel() for p in self.functions.trained.values()])
        moved = {
            name: piece.reshape(p.shape).to(p.dtype)
            for (name, p), piece in zip(self.functions.trained.items(), pieces, strict=True)
        }

        def score(trained: dict[str, Tensor]) -> Tensor:
            return functions.called("actor", trained, rows)

        with quietly():
            return _numpy(
                torch.func.jvp(score, (functions.detached(tuple(functions.trained)),), (moved,))[1]
            )

    def _gradient(self, observation: Rows, action: Rows, weights: StepWeights) -> Vector:
        functions, rows = self.functions, self.policy.rows(observation, action)
        with quietly():
            total: Any = 0.0
            for part, weight in weights.items():
                output = functions.calls[part](*functions.inputs(part, *rows))
                total = total + (self.policy.tensor(weight).to(output.dtype) * output).sum()
            found = torch.autograd.grad(total, list(functions.trained.values()), allow_unused=True)
        filled = [
            torch.zeros_like(p) if g is None else g
            for p, g in zip(functions.trained.values(), found, strict=True)
        ]
        return _numpy(torch.cat([g.reshape(-1) for g in filled]))

    def _layers(self, observation: Any, action: Any, parts: tuple[str, ...]) -> list[Layer]:
        """Return the layers of steps that lie in two axes, one after the other."""
        return torch_layers(self.functions, self._rows(observation, action), parts)

    def _rows(self, observation: Any, action: Any) -> tuple[Any, Tensor]:
        flat = [np.asarray(x).reshape(-1, *x.shape[2:]) for x in (observation, action)]
        return self.policy.rows(flat[0], flat[1])

    def _objectives(self, slab: Slab) -> Iterator[tuple[str, Any, Any, Any]]:
        """Return each objective with its parts' scores [c, t, P] and their weights."""
        shape, functions = slab.observation.shape[:2], self.functions
        rows = self._rows(slab.observation, slab.action)
        with quietly():
            scores = {part: functions.scores(part, *rows) for part in slab.parts}
        for name, parts in slab.fragment.items():
            names = dict.fromkeys(one for part in parts for one in functions.reached[part])
            own = {part: self._beside(scores[part], names, shape) for part in parts}
            yield name, own, _tensors(parts, self.policy), _tensors(slab.whole[name], self.policy)

    def _beside(
        self, scores: dict[str, Tensor], names: Mapping[str, None], shape: tuple[int, ...]
    ) -> Tensor:
        """Join scores to the named parameters in one row a step, 0 where a part does not reach."""
        rows = len(next(iter(scores.values())))
        columns = [
            scores[name].reshape(rows, -1).float()
            if name in scores
            else torch.zeros(rows, self.functions.trained[name].numel(), device=self.policy.device)
            for name in names
        ]
        return torch.cat(columns, dim=1).reshape(*shape, -1)


def _tensors(weights: Mapping[str, Any], policy: TorchPolicy) -> dict[str, Tensor]:
    return {part: policy.tensor(np.asarray(w)) for part, w in weights.items()}


def _numpy(tensor: Any) -> Any:
    return tensor.cpu().numpy()
