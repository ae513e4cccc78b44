"""Engines: the gradients of a frozen policy's steps, in the framework that it is written in.

`own` serves nbyt's own policies, `jax` any functions of parameters, `torch` torch modules.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jax import device_get  # a module of this package is called jax too
from jaxtyping import Array, Float, Shaped

from nbyt.gradients.slab_sums import Lengths, Slab, SlabSums
from nbyt.gradients.spec import Footprint, GradientSpec

Rows = Shaped[np.ndarray, "R ..."]
StepWeights = dict[str, Float[np.ndarray, " R"]]  # part -> weights
Vector = Float[np.ndarray, " P"]
Scores = Float[np.ndarray, " R"]
Norms = Float[np.ndarray, "K M"]


@runtime_checkable
class Engine(Protocol):
    """The gradients of one frozen policy's steps; NumPy arrays in and out."""

    @property
    def shared(self) -> bool:
        """Return whether actor and critic have weights in common."""

    def footprint(self, spec: GradientSpec) -> Footprint:
        """Return the memory that measuring takes."""

    def sum_slab(self, slab: Slab, steps: Lengths, lags: Lengths) -> dict[str, SlabSums]:
        """Sum a slab for each objective; `steps` are the lengths of the K fragments."""

    def batch_norm_sq(self, slab: Slab, steps: Lengths) -> dict[str, Norms]:
        """Sum over updates the squared norm of all chains' summed contributions."""

    def gradient(self, observation: Rows, action: Rows, weights: StepWeights) -> Vector:
        """Return the weighted sum over steps of each part's gradient, to all trained weights."""

    def along(self, observation: Rows, action: Rows, direction: Vector) -> Scores:
        """Return every step's score along a direction among all weights."""


class Programs(NamedTuple):
    """Compiled functions of (definition, params, ...) that serve an engine.

    definition: what is static in them, such as the network.
    """

    definition: Any
    params: Any
    sum_slab: Callable[..., dict[str, SlabSums]]
    batch_norm_sq: Callable[..., dict[str, Array]]
    gradient: Callable[..., Array]
    along: Callable[..., Array]


class JaxEngine:
    """Base of engines whose gradients are compiled JAX programs."""

    @property
    def programs(self) -> Programs:
        raise NotImplementedError

    def sum_slab(self, slab: Slab, steps: Lengths, lags: Lengths) -> dict[str, SlabSums]:
        run = self.programs
        return device_get(run.sum_slab(run.definition, run.params, slab, steps, lags))

    def batch_norm_sq(self, slab: Slab, steps: Lengths) -> dict[str, Norms]:
        run = self.programs
        return device_get(run.batch_norm_sq(run.definition, run.params, slab, steps))

    def gradient(self, observation: Rows, action: Rows, weights: StepWeights) -> Vector:
        run = self.programs
        given = {part: np.asarray(weight, np.float32) for part, weight in weights.items()}
        return np.asarray(run.gradient(run.definition, run.params, observation, action, given))

    def along(self, observation: Rows, action: Rows, direction: Vector) -> Scores:
        run = self.programs
        given = np.asarray(direction, np.float32)
        return np.asarray(run.along(run.definition, run.params, observation, action, given))
