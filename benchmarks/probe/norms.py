"""Per-sample gradient norms: ours against the peers' and against a plain gradient.

All compute |grad of A log pi(a|s)| for every sample of a batch, for an MLP with tanh and a softmax
over actions; the plain gradient of the whole batch is the floor that nobody can be much below.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any

import numpy as np

from benchmarks.probe.costs import cost
from benchmarks.timing.lines import compare
from benchmarks.timing.rounds import interleave
from benchmarks.timing.worker import Worker

SIZES = {"4-64-64-2": (4, 64, 2), "17-256-256-6": (17, 256, 6)}
BATCH = 8192
TARGETS = {"4-64-64-2": 10.0, "17-256-256-6": 30.0}
MOST = 2.0
"""Plain gradients that our norms may cost."""
# Samples that torch's vmap takes at once: the fastest of 64 to 8,192 on the machine of the page.
_AT_ONCE = {"4-64-64-2": 1024, "17-256-256-6": 128}
# Rounding of single precision, summed over thousands of weights.
_AGREE = 1e-3


def norms(*, rounds: int, seconds: float) -> dict[str, Any]:
    """Our speed over each peer's, and our cost in plain gradients."""
    lines, costs = [], []
    for size in SIZES:
        with ExitStack() as stack:
            workers = {
                name: stack.enter_context(
                    closing(Worker(f"{name}, {size}", BATCH, make, name, size))
                )
                for name in (*_JAX, *_TORCH)
            }
            _require_agreement(workers, size)
            speeds = interleave(workers, rounds=rounds, seconds=seconds)
        for peer in _TORCH:
            target = TARGETS[size] if peer in _TARGETED else None
            lines.append(compare(size, speeds, "nbyt", peer, target).as_dict())
        costs.append(cost(size, speeds, "nbyt", "plain gradient", MOST))
    return {"lines": lines, "costs": costs}


def _require_agreement(workers: dict[str, Worker], size: str) -> None:
    """All contenders give the same norms; otherwise their speeds say nothing."""
    ours = workers["nbyt"].ask("result")
    for name in _TORCH:
        theirs = workers[name].ask("result")
        if not np.allclose(ours, theirs, rtol=_AGREE):
            raise RuntimeError(f"{name} and nbyt find different norms for {size}")


class Timed:
    """A function of no arguments that ends when its result is there; `size` samples a call."""

    def __init__(self, call: Callable[[], Any], size: int = BATCH) -> None:
        self.size, self._call = size, call
        self._call()

    def go(self, units: int) -> float:
        """Seconds that the next `units` calls took."""
        began = time.perf_counter()
        for _ in range(units):
            self._call()
        return time.perf_counter() - began

    def result(self) -> np.ndarray:
        """What a call gives."""
        return np.asarray(self._call())


def make(name: str, size: str) -> Timed:
    """The contender of that name for one of SIZES."""
    return Timed({**_JAX, **_TORCH}[name](size))


def _data(size: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    inputs, _, actions = SIZES[size]
    observation = generator.normal(size=(BATCH, inputs)).astype(np.float32)
    action = generator.integers(0, actions, BATCH).astype(np.int32)
    return observation, action, generator.normal(size=BATCH).astype(np.float32)


def _weights(size: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights [inputs, outputs] and biases of the three layers, the same for all contenders."""
    inputs, width, actions = SIZES[size]
    generator = np.random.default_rng(1)
    shapes = ((inputs, width), (width, width), (width, actions))
    return [
        (
            (generator.normal(size=shape) / shape[0] ** 0.5).astype(np.float32),
            np.zeros(shape[1], np.float32),
        )
        for shape in shapes
    ]


def _policy(size: str) -> tuple[Any, Any]:
    import jax
    from gymnasium import spaces

    from nbyt.policy.actor_critic import build
    from nbyt.policy.networks import parse_network

    inputs, width, actions = SIZES[size]
    network = parse_network(f"{width}x{width}", "tanh")
    policy = build(spaces.Box(-1, 1, (inputs,)), spaces.Discrete(actions), network)
    *layers, head = [{"w": w, "b": b} for w, b in _weights(size)]
    head["w"] = head["w"].T
    params = policy.init(None)._replace(actor={"layers": layers, "head": head})
    return policy, jax.device_put(params)


def _ours(size: str) -> Callable[[], Any]:
    import jax

    from nbyt.gradients.products import grouped, layers, paired

    policy, params = _policy(size)
    observation, action, advantage = jax.device_put(_data(size))

    @jax.jit
    def norms(params: Any, observation: Any, action: Any, advantage: Any) -> Any:
        rows = grouped(layers(policy, params, observation, action, ("actor",)), 1)
        square = paired(rows, rows, "actor", "actor")[0]
        return jax.numpy.sqrt(square) * abs(advantage)

    return lambda: norms(params, observation, action, advantage).block_until_ready()


def _plain(size: str) -> Callable[[], Any]:
    import jax

    policy, params = _policy(size)
    observation, action, advantage = jax.device_put(_data(size))

    def gain(actor: Any, observation: Any, action: Any, advantage: Any) -> Any:
        parameters = policy.parameters(params._replace(actor=actor), observation)
        return (advantage * policy.head.log_prob(parameters, action)).sum()

    gradient = jax.jit(jax.grad(gain))
    arguments = (params.actor, observation, action, advantage)
    return lambda: jax.block_until_ready(gradient(*arguments))


def _torch_parts(size: str) -> tuple[Any, Any]:
    import torch

    modules: list[Any] = []
    for weight, bias in _weights(size):
        layer = torch.nn.Linear(*weight.shape)
        layer.weight.data, layer.bias.data = torch.tensor(weight.T), torch.tensor(bias)
        modules += [layer, torch.nn.Tanh()]
    observation, action, advantage = map(torch.tensor, _data(size))
    return torch.nn.Sequential(*modules[:-1]), (observation, action.long(), advantage)


def _torch_func(size: str) -> Callable[[], Any]:
    import torch
    from torch.func import functional_call, grad, vmap

    model, data = _torch_parts(size)
    weights = {name: value.detach() for name, value in model.named_parameters()}

    def gain(weights: Any, observation: Any, action: Any, advantage: Any) -> Any:
        logits = functional_call(model, weights, (observation[None],))[0]
        return advantage * torch.log_softmax(logits, -1).gather(0, action[None])[0]

    def norm(*row: Any) -> Any:
        return sum((g**2).sum() for g in grad(gain)(weights, *row).values()).sqrt()

    norms = vmap(norm, chunk_size=_AT_ONCE[size])
    return lambda: norms(*data)


def _backpack(size: str, extension_name: str) -> Callable[[], Any]:
    import torch
    from backpack import backpack, extend, extensions

    model, (observation, action, advantage) = _torch_parts(size)
    model = extend(model)
    observation.requires_grad_()  # else its hooks complain, and do no less
    extension = getattr(extensions, extension_name)

    def squares(part: slice) -> Any:
        model.zero_grad()
        logits = model(observation[part])
        chosen = torch.log_softmax(logits, -1).gather(1, action[part, None])[:, 0]
        with backpack(extension()):
            (advantage[part] * chosen).sum().backward()
        if extension_name == "BatchL2Grad":
            return sum(p.batch_l2 for p in model.parameters())
        return sum((p.grad_batch.flatten(1) ** 2).sum(1) for p in model.parameters())

    def norms() -> Any:
        # Written-out gradients of the large network would take 2.4 GB at once.
        step = BATCH if extension_name == "BatchL2Grad" else _AT_ONCE[size]
        parts = [slice(first, first + step) for first in range(0, BATCH, step)]
        return torch.cat([squares(part) for part in parts]).sqrt().detach()

    return norms


_JAX = {"nbyt": _ours, "plain gradient": _plain}
_TARGETED = ("torch.func", "BackPACK")
_TORCH = {
    "torch.func": _torch_func,
    "BackPACK": lambda size: _backpack(size, "BatchGrad"),
    "BackPACK L2": lambda size: _backpack(size, "BatchL2Grad"),
}
