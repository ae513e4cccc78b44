"""Samplers with planted faults, and right ones, as their authors might write them."""

from collections.abc import Iterator

import numpy as np

Indices = Iterator[np.ndarray]


def chopped(order: np.ndarray, minibatch: int) -> list[np.ndarray]:
    return [order[first : first + minibatch] for first in range(0, len(order), minibatch)]


def right(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    generator = np.random.default_rng(seed)
    for _ in range(epochs):
        yield from chopped(generator.permutation(batch), minibatch)


def reshaped(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    """One array an epoch, whose rows are the mini-batches."""
    generator = np.random.default_rng(seed)
    for _ in range(epochs):
        yield from generator.permutation(batch).reshape(-1, minibatch)


def sorted_inside(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    """Order inside a mini-batch does not matter."""
    yield from (np.sort(one) for one in right(batch, minibatch, epochs, seed))


def careless_of_seed(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    """Random all the same, and never twice alike."""
    yield from right(batch, minibatch, epochs, np.random.SeedSequence().entropy)


def split_evenly(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    generator = np.random.default_rng(seed)
    for _ in range(epochs):
        yield from np.array_split(generator.permutation(batch), batch // minibatch)


def fetched(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    generator = np.random.default_rng(seed)
    for _ in range(epochs * (batch // minibatch)):
        yield generator.integers(batch, size=minibatch)


def all_each_time(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    for _ in range(epochs * (batch // minibatch)):
        yield np.arange(batch)


def once_an_epoch_all(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    for _ in range(epochs):
        yield np.random.default_rng(seed).permutation(batch)


def last_minibatch_lost(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    generator = np.random.default_rng(seed)
    for _ in range(epochs):
        yield from chopped(generator.permutation(batch), minibatch)[:-1]


def last_sample_lost(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    yield from right(batch - 1, minibatch, epochs, seed)


def single_epoch(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    yield from right(batch, minibatch, 1, seed)


def same_each_update(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    """Fresh epochs, but the generator begins anew with every call."""
    yield from right(batch, minibatch, epochs, 0)


def one_permutation_for_ever(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    for _ in range(epochs):
        yield from right(batch, minibatch, 1, 0)


def two_in_turn(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    for epoch in range(epochs):
        yield from right(batch, minibatch, 1, 2 * seed + epoch % 2)


def fixed_members(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    """Mini-batches keep their samples for an update and only change their order."""
    generator = np.random.default_rng(seed)
    pieces = chopped(generator.permutation(batch), minibatch)
    for _ in range(epochs):
        yield from (pieces[at] for at in generator.permutation(len(pieces)))


def in_order(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    for _ in range(epochs):
        yield from chopped(np.arange(batch), minibatch)


def backwards(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    for _ in range(epochs):
        yield from chopped(np.arange(batch)[::-1], minibatch)


def every_so_many(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    count = batch // minibatch
    for _ in range(epochs):
        yield from (np.arange(first, batch, count) for first in range(count))


def first_epoch_in_order(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    yield from in_order(batch, minibatch, 1, seed)
    yield from right(batch, minibatch, epochs - 1, seed)


def halves(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    """Each half of the batch is shuffled alone."""
    generator = np.random.default_rng(seed)
    for _ in range(epochs):
        for first in (0, batch // 2):
            yield from chopped(first + generator.permutation(batch // 2), minibatch)


def small_shuffle_buffer(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    """A stream that is shuffled inside a window of a quarter of the batch."""
    generator = np.random.default_rng(seed)
    for _ in range(epochs):
        late = np.arange(batch) + generator.uniform(0, batch / 4, size=batch)
        yield from chopped(np.argsort(late), minibatch)


def careless_swaps(batch: int, minibatch: int, epochs: int, seed: int) -> Indices:
    """Every place is swapped with any other: near to uniform, and not uniform."""
    generator = np.random.default_rng(seed)
    for _ in range(epochs):
        order = np.arange(batch)
        for place, other in enumerate(generator.integers(batch, size=batch)):
            order[place], order[other] = order[other], order[place]
        yield from chopped(order, minibatch)
