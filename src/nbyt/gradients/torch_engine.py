"""The engine of policies written in torch: every step's score by `torch.func`, summed in torch."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from nbyt.errors import UsageError
from nbyt.gradients.digest import Digest, Slab
from nbyt.gradients.plan import Footprint
from nbyt.gradients.torch_modes import quietly
from nbyt.gradients.torch_package import Module, Tensor, torch
from nbyt.gradients.torch_policy import Rows, TorchPolicy
from nbyt.gradients.weights import Aim, objective_parts
from nbyt.gradients.written import crowd_square, digest_written

# Numbers kept for each number of a row's scores: the scores, their products, and one copy.
_COPIES = 4
_BYTES = 4
# Without a compiled program every slab has a cost of its own, so few and large ones are best; but
# the sums go over a slab's scores many times, and are slow where those leave the cache: measured.
_CHAINS = 32
_SLAB = 2**27


class _Call(Module):
    """A function over a module, as a module: its parameters can then be handed in."""

    def __init__(self, module: Module, function: Rows) -> None:
        super().__init__()
        self.module, self._function = module, function

    def forward(self, *rows: Any) -> Tensor:
        return self._function(*rows).reshape(-1)


@dataclass(frozen=True)
class TorchEngine:
    """Gradients of a policy in torch. row: one step, from which is seen what reaches what."""

    policy: TorchPolicy
    row: tuple[np.ndarray, np.ndarray]
    _slow: list[str] = field(default_factory=list, repr=False)

    @cached_property
    def reached(self) -> dict[str, tuple[str, ...]]:
        """The parameters that each part depends on, by name."""
        names, tensors = list(self._trained), list(self._trained.values())
        found = {}
        for part, call in self._calls.items():
            with quietly():
                output = call(*self._inputs(part, *self.policy.rows(*self.row)))
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

    @property
    def shared(self) -> bool:
        """Whether actor and critic have weights in common."""
        return bool(set(self.reached["actor"]) & set(self.reached["critic"]))

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Parameters that actor, critic and both together have."""
        actor, critic = self.reached["actor"], self.reached["critic"]
        both = tuple(dict.fromkeys((*actor, *critic)))
        named = {"actor": actor, "critic": critic, "total": both}
        return {name: sum(self._trained[one].numel() for one in own) for name, own in named.items()}

    def footprint(self, aim: Aim) -> Footprint:
        """What measuring takes."""
        sizes, parts = self.sizes, objective_parts(aim)
        row = sum(sizes[name] * len(own) for name, own in parts.items())
        vectors = sum(sizes[name] for name in parts)
        return Footprint(row * _COPIES * _BYTES, vectors, _CHAINS, _SLAB)

    def digest(
        self, slab: Slab, steps: tuple[int, ...], lags: tuple[int, ...]
    ) -> dict[str, Digest]:
        """A slab's sums for each objective."""
        found = {}
        for name, scores, fragment, whole in self._objectives(slab):
            made = digest_written(torch, scores, fragment, whole, steps, lags)
            found[name] = Digest(*map(_numpy, made))
        return found

    def crowd_squares(
        self, slab: Slab, steps: tuple[int, ...]
    ) -> dict[str, Float[np.ndarray, "K M"]]:
        """Sums over updates of the squared norm of all chains' summed contributions."""
        found = {}
        for name, scores, fragment, _ in self._objectives(slab):
            squares = [
                crowd_square(
                    torch, scores, {part: w[place] for part, w in fragment.items()}, length
                )
                for place, length in enumerate(steps)
            ]
            found[name] = _numpy(torch.stack(squares))
        return found

    def gradient(
        self,
        observation: Shaped[np.ndarray, "R ..."],
        action: Shaped[np.ndarray, "R ..."],
        weights: dict[str, Float[np.ndarray, " R"]],
    ) -> Float[np.ndarray, " P"]:
        """The weighted sum over steps of each part's gradient, to all weights there are."""
        rows = self.policy.rows(observation, action)
        with quietly():
            total: Any = 0.0
            for part, weight in weights.items():
                output = self._calls[part](*self._inputs(part, *rows))
                total = total + (self.policy.tensor(weight).to(output.dtype) * output).sum()
            found = torch.autograd.grad(total, list(self._trained.values()), allow_unused=True)
        filled = [
            torch.zeros_like(p) if g is None else g
            for p, g in zip(self._trained.values(), found, strict=True)
        ]
        return _numpy(torch.cat([g.reshape(-1) for g in filled]))

    def along(
        self,
        observation: Shaped[np.ndarray, "R ..."],
        action: Shaped[np.ndarray, "R ..."],
        direction: Float[np.ndarray, " P"],
    ) -> Float[np.ndarray, " R"]:
        """Every step's score along a direction among all weights."""
        rows = self._inputs("actor", *self.policy.rows(observation, action))
        vector = self.policy.tensor(direction)
        pieces = torch.split(vector, [p.numel() for p in self._trained.values()])
        moved = {
            name: piece.reshape(p.shape).to(p.dtype)
            for (name, p), piece in zip(self._trained.items(), pieces, strict=True)
        }

        def score(trained: dict[str, Tensor]) -> Tensor:
            return self._called("actor", trained, rows)

        with quietly():
            return _numpy(
                torch.func.jvp(score, (self._detached(tuple(self._trained)),), (moved,))[1]
            )

    @cached_property
    def _trained(self) -> dict[str, Tensor]:
        """The module's parameters that are trained, by name."""
        named = self.policy.module.named_parameters()
        return {name: p for name, p in named if p.requires_grad}

    @cached_property
    def _slots(self) -> dict[str, str]:
        """Every place inside a call that holds a trained parameter, with the parameter's name.

        A parameter may stand in several modules, and a module under several names; each place
        must be filled, and none twice: torch would not find its way back.
        """
        names = {id(p): name for name, p in self._trained.items()}
        return {
            f"module.{path}.{own}" if path else f"module.{own}": names[id(p)]
            for path, module in self.policy.module.named_modules()
            for own, p in module.named_parameters(recurse=False)
            if id(p) in names
        }

    @cached_property
    def _calls(self) -> dict[str, _Call]:
        policy = self.policy
        functions = {"actor": policy.log_prob, "critic": policy.value, "entropy": policy.entropy}
        return {part: _Call(policy.module, f) for part, f in functions.items() if f is not None}

    def _called(self, part: str, trained: dict[str, Tensor], rows: tuple[Any, ...]) -> Tensor:
        """A part's output with these tensors in place of the parameters that they are named for."""
        given = {slot: trained[name] for slot, name in self._slots.items() if name in trained}
        return torch.func.functional_call(self._calls[part], given, rows, tie_weights=False)

    def _inputs(self, part: str, observation: Any, action: Tensor) -> tuple[Any, ...]:
        return (observation, action) if part == "actor" else (observation,)

    def _detached(self, names: tuple[str, ...]) -> dict[str, Tensor]:
        return {name: self._trained[name].detach() for name in names}

    def _objectives(self, slab: Slab) -> Iterator[tuple[str, Any, Any, Any]]:
        """Each objective with its parts' scores [c, t, P] and their weights."""
        shape = slab.observation.shape[:2]
        flat = [np.asarray(x).reshape(-1, *x.shape[2:]) for x in (slab.observation, slab.action)]
        rows = self.policy.rows(flat[0], flat[1])
        used = dict.fromkeys(part for parts in slab.fragment.values() for part in parts)
        with quietly():
            scores = {part: self.scores(part, *rows) for part in used}
        for name, parts in slab.fragment.items():
            names = dict.fromkeys(one for part in parts for one in self.reached[part])
            own = {part: self._beside(scores[part], names, shape) for part in parts}
            yield name, own, _tensors(parts, self.policy), _tensors(slab.whole[name], self.policy)

    def _beside(
        self, scores: dict[str, Tensor], names: Mapping[str, None], shape: tuple[int, ...]
    ) -> Tensor:
        """Scores to the named parameters in one row a step, 0 where a part does not reach."""
        rows = len(next(iter(scores.values())))
        columns = [
            scores[name].reshape(rows, -1).float()
            if name in scores
            else torch.zeros(rows, self._trained[name].numel(), device=self.policy.device)
            for name in names
        ]
        return torch.cat(columns, dim=1).reshape(*shape, -1)

    def scores(self, part: str, observation: Any, action: Tensor) -> dict[str, Tensor]:
        """Every step's gradient of one part to the parameters that it depends on."""
        names = self.reached[part]
        rows = self._inputs(part, observation, action)

        def one(trained: dict[str, Tensor], *row: Any) -> Tensor:
            return self._called(part, trained, _map(lambda x: x[None], row))[0]

        if part not in self._slow:
            try:
                every = torch.func.vmap(torch.func.grad(one), in_dims=(None, *[0] * len(rows)))
                return every(self._detached(names), *rows)
            except RuntimeError:
                # Code that torch cannot batch, such as a decision on a value: row by row then.
                self._slow.append(part)
        return self._row_by_row(part, names, rows)

    def _row_by_row(
        self, part: str, names: tuple[str, ...], rows: tuple[Any, ...]
    ) -> dict[str, Tensor]:
        tensors = [self._trained[name] for name in names]
        found: list[tuple[Tensor, ...]] = []
        for place in range(len(_first(rows[0]))):
            row = _map(lambda x: x[place : place + 1], rows)  # noqa: B023 (used at once)
            found.append(torch.autograd.grad(self._calls[part](*row).sum(), tensors))
        columns = zip(*found, strict=True)
        return {name: torch.stack(own) for name, own in zip(names, columns, strict=True)}


def _tensors(weights: Mapping[str, Any], policy: TorchPolicy) -> dict[str, Tensor]:
    return {part: policy.tensor(np.asarray(w)) for part, w in weights.items()}


def _numpy(tensor: Any) -> Any:
    return tensor.cpu().numpy()


def _map(function: Callable[[Tensor], Tensor], tree: Any) -> Any:
    """The function on every tensor of a tuple or dictionary of them."""
    if isinstance(tree, dict):
        return {name: _map(function, one) for name, one in tree.items()}
    if isinstance(tree, tuple):
        return tuple(_map(function, one) for one in tree)
    return function(tree)


def _first(tree: Any) -> Tensor:
    return _first(next(iter(tree.values()))) if isinstance(tree, dict) else tree


def _gradients(output: Tensor, tensors: list[Tensor]) -> list[Tensor | None]:
    """The gradient to each tensor, None for those that the output does not depend on."""
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
