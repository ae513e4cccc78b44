"""Other ways to cut a batch into mini-batches, beside shuffle-and-chop.

Some are in use, some are known mistakes. All give the indices of every mini-batch of one update,
in order; sample t * N + n is step t of env n. `nbyt.minibatch.named` has them all by name.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int

from nbyt.errors import LayoutError
from nbyt.layout import Layout
from nbyt.minibatch.rules import by_env

Indices = Int[np.ndarray, "gradient_steps minibatch"]
Scheme = Callable[[Layout, np.random.Generator], Indices]


def whole_batch(layout: Layout, generator: np.random.Generator) -> Indices:
    """The whole batch every time, whatever the mini-batch size: one gradient step an epoch."""
    del generator
    return np.tile(np.arange(layout.batch, dtype=np.int32), (layout.epochs, 1))


def random_fetch(layout: Layout, generator: np.random.Generator) -> Indices:
    """Every sample of every mini-batch fetched from all: some twice, some never."""
    shape = (layout.gradient_steps, layout.minibatch)
    return generator.integers(layout.batch, size=shape, dtype=np.int32)


def random_subsets(layout: Layout, generator: np.random.Generator) -> Indices:
    """Every mini-batch without a sample twice, but fetched from all: some samples are in none."""
    fetches = [
        generator.permutation(layout.batch)[: layout.minibatch]
        for _ in range(layout.gradient_steps)
    ]
    return np.stack(fetches).astype(np.int32)


def consecutive(layout: Layout, generator: np.random.Generator) -> Indices:
    """Steps of one env that follow each other, or of several where a mini-batch needs more.

    Nothing is shuffled but the order of the mini-batches.
    """
    return _chopped(by_env(layout.envs, layout.steps), layout, generator)


def time_slabs(layout: Layout, generator: np.random.Generator) -> Indices:
    """A few steps of all envs at a time: the batch chopped in the order it was collected in.

    Nothing is shuffled but the order of the mini-batches.
    """
    return _chopped(np.arange(layout.batch), layout, generator)


def whole_envs(layout: Layout, generator: np.random.Generator) -> Indices:
    """All steps of a few envs, the envs shuffled anew each epoch, as recurrent policies need it."""
    if layout.minibatch % layout.steps:
        raise LayoutError(
            f"a mini-batch of {layout.minibatch} does not hold whole envs of {layout.steps} steps",
            where="minibatch",
            fix=f"use a multiple of {layout.steps}",
        )
    envs = by_env(layout.envs, layout.steps).reshape(layout.envs, layout.steps)
    epochs = [envs[generator.permutation(layout.envs)] for _ in range(layout.epochs)]
    return np.concatenate(epochs).astype(np.int32).reshape(-1, layout.minibatch)


def _chopped(
    order: Int[np.ndarray, " batch"], layout: Layout, generator: np.random.Generator
) -> Indices:
    pieces = order.reshape(-1, layout.minibatch)
    epochs = [pieces[generator.permutation(layout.minibatches)] for _ in range(layout.epochs)]
    return np.concatenate(epochs).astype(np.int32)
