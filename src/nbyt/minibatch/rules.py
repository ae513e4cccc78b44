"""How PPO implementations cut a batch, a rest included: one function a rule.

A rule gives all mini-batches of one update, in order; their sizes may differ. Sample t * N + n is
step t of env n.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

import numpy as np
from jaxtyping import Int

from nbyt.errors import LayoutError

Order = Int[np.ndarray, " samples"]
Minibatches = list[Int[np.ndarray, " _"]]


@dataclass(frozen=True)
class SamplerSizes:
    """A layout's sizes, of which the mini-batch's need not divide the batch."""

    envs: int
    steps: int
    minibatch: int
    epochs: int

    @property
    def batch(self) -> int:
        """Samples in the rollout buffer: N x T."""
        return self.envs * self.steps

    @property
    def unroll(self) -> int:
        """The longest pieces of rollouts that fill both an env's steps and a mini-batch."""
        return gcd(self.steps, self.minibatch)


Rule = Callable[[SamplerSizes, np.random.Generator], Minibatches]


def by_env(envs: int, steps: int) -> Order:
    """All samples, env after env."""
    return np.arange(envs * steps).reshape(steps, envs).T.reshape(-1)


def short_tail(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch, chopped until nothing is left: the last one may be short."""
    return _each_epoch(sizes, lambda: _chopped(generator.permutation(sizes.batch), sizes.minibatch))


def tail_dropped(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch, of which only full mini-batches are used."""
    return _each_epoch(sizes, lambda: _full(generator.permutation(sizes.batch), sizes.minibatch))


def tail_merged(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch; what is left over is joined to the last mini-batch."""

    def epoch() -> Minibatches:
        pieces = _chopped(generator.permutation(sizes.batch), sizes.minibatch)
        if len(pieces) > 1 and len(pieces[-1]) < sizes.minibatch:
            pieces[-2:] = [np.concatenate(pieces[-2:])]
        return pieces

    return _each_epoch(sizes, epoch)


def even_split(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch, split into parts whose sizes differ by one at most."""
    count = max(sizes.batch // sizes.minibatch, 1)
    return _each_epoch(
        sizes, lambda: list(np.array_split(generator.permutation(sizes.batch), count))
    )


def no_rest(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch, for sizes that divide."""
    _require_divisible(sizes)
    return short_tail(sizes, generator)


def one_permutation(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """One shuffle for all epochs of an update; the tail is dropped."""
    return _full(generator.permutation(sizes.batch), sizes.minibatch) * sizes.epochs


def cyclic(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Passes that run into each other, all mini-batches full; the first pass is not shuffled.

    A single epoch is not shuffled at all.
    """
    count = -(-sizes.epochs * sizes.batch // sizes.minibatch)
    first = by_env(sizes.envs, sizes.steps)
    rest = -(-count * sizes.minibatch // sizes.batch) - 1
    shuffled = sizes.epochs > 1
    passes = [generator.permutation(first) if shuffled else first for _ in range(rest)]
    return _full(np.concatenate([first, *passes]), sizes.minibatch)[:count]


def blocks_in_fresh_order(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Steps that follow each other, the blocks' order shuffled each epoch; the tail is dropped."""
    blocks = _full(by_env(sizes.envs, sizes.steps), sizes.minibatch)
    return _each_epoch(sizes, lambda: [blocks[at] for at in generator.permutation(len(blocks))])


def blocks_in_one_order(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Steps that follow each other, the blocks' order shuffled once an update."""
    _require_divisible(sizes)
    blocks = _full(by_env(sizes.envs, sizes.steps), sizes.minibatch)
    return [blocks[at] for at in generator.permutation(len(blocks))] * sizes.epochs


def env_slices(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Whole rollouts, or slices of one, env after env; nothing is shuffled."""
    del generator
    _require_divisible(sizes)
    return _full(by_env(sizes.envs, sizes.steps), sizes.minibatch) * sizes.epochs


def time_slices(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A few steps of all envs, in the order they were collected in; the tail is dropped."""
    del generator
    return _full(np.arange(sizes.batch), sizes.minibatch) * sizes.epochs


def unrolls(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Whole unrolls, shuffled each epoch. An unroll is as long as both sizes allow."""
    _require_divisible(sizes)
    whole = by_env(sizes.envs, sizes.steps).reshape(-1, sizes.unroll)
    return _each_epoch(
        sizes, lambda: _full(generator.permutation(whole).reshape(-1), sizes.minibatch)
    )


def drawn_unrolls(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Whole unrolls drawn for each mini-batch, none twice in one, all with equal priority."""
    whole = by_env(sizes.envs, sizes.steps).reshape(-1, sizes.unroll)
    count = sizes.epochs * sizes.batch // sizes.minibatch
    each = sizes.minibatch // sizes.unroll
    return [generator.permutation(whole)[:each].reshape(-1) for _ in range(count)]


def _each_epoch(sizes: SamplerSizes, epoch: Callable[[], Minibatches]) -> Minibatches:
    return [one for _ in range(sizes.epochs) for one in epoch()]


def _chopped(order: Order, minibatch: int) -> Minibatches:
    return [order[first : first + minibatch] for first in range(0, len(order), minibatch)]


def _full(order: Order, minibatch: int) -> Minibatches:
    return [one for one in _chopped(order, minibatch) if len(one) == minibatch]


def _require_divisible(sizes: SamplerSizes) -> None:
    if sizes.batch % sizes.minibatch:
        raise LayoutError(
            f"this scheme refuses {sizes.batch} samples in mini-batches of {sizes.minibatch}",
            where="minibatch",
            fix=f"use a divisor of {sizes.batch}",
        )
