"""Ways to draw a mini-batch from a replay buffer.

All draw places of rows that have been written and are still there. Drawn on the host: what is in
the buffer follows from the count of rows written, so draws need nothing from the device, cost what
the mini-batch costs and not what the buffer does, and are the same wherever the buffer lies.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from nbyt.errors import UsageError

Sampling = Literal["uniform", "distinct", "stratified", "sequential", "newest"]
Places = Int[np.ndarray, "gradient_steps minibatch"]


@dataclass(frozen=True)
class Filled:
    """The content of a ring of `capacity` rows after `written` rows were written."""

    written: int
    capacity: int

    @property
    def count(self) -> int:
        return min(self.written, self.capacity)

    def place(self, age: np.ndarray) -> np.ndarray:
        """Return the places of rows counted from the oldest, which is 0."""
        return (self.written - self.count + age) % self.capacity


def draw(
    sampling: Sampling,
    filled: Filled,
    minibatch: int,
    gradient_steps: int,
    generator: np.random.Generator,
) -> Places:
    """Draw the places in the buffer of `steps` mini-batches."""
    if not 1 <= minibatch <= filled.count:
        raise UsageError(
            f"a mini-batch of {minibatch} cannot be drawn from {filled.count} transitions",
            where="minibatch",
            fix="a mini-batch of at least 1 and at most what is in the buffer; a longer --warm-up",
        )
    age = SAMPLINGS[sampling](filled.count, (gradient_steps, minibatch), generator)
    return filled.place(age).astype(np.int32)


def _uniform(count: int, shape: tuple[int, int], generator: np.random.Generator) -> Places:
    """Draw each row from all rows, with replacement."""
    return generator.integers(count, size=shape)


def _distinct(count: int, shape: tuple[int, int], generator: np.random.Generator) -> Places:
    steps, minibatch = shape
    fetches = [generator.choice(count, minibatch, replace=False) for _ in range(steps)]
    return np.stack(fetches)


def _stratified(count: int, shape: tuple[int, int], generator: np.random.Generator) -> Places:
    """Draw one row from each of m equal spans of age, so that a mini-batch covers the buffer."""
    within = (np.arange(shape[1]) + generator.random(shape)) / shape[1]
    return np.minimum((within * count).astype(np.int64), count - 1)


def _sequential(count: int, shape: tuple[int, int], generator: np.random.Generator) -> Places:
    """Draw successive rows from a random one on."""
    steps, minibatch = shape
    return generator.integers(count - minibatch + 1, size=(steps, 1)) + np.arange(minibatch)


def _newest(count: int, shape: tuple[int, int], generator: np.random.Generator) -> Places:
    """Take the newest rows: what learning without replay would use."""
    del generator
    return np.tile(np.arange(count - shape[1], count), (shape[0], 1))


SAMPLINGS: dict[str, Callable[[int, tuple[int, int], np.random.Generator], Places]] = {
    "uniform": _uniform,
    "distinct": _distinct,
    "stratified": _stratified,
    "sequential": _sequential,
    "newest": _newest,
}
