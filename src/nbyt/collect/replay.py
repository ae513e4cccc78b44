"""The replay buffer: the last transitions of all envs, the oldest overwritten first.

A buffer is a ring of rows in the order they were collected in. Writing and reading touch only the
rows that they are about, however large the buffer is. Which rows to read is drawn elsewhere
(`minibatch.replay`), from the two numbers that say what has been written.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nbyt.errors import UsageError


class Replay(NamedTuple):
    """A buffer on the device: a tree of rows [capacity, ...], all zero until written."""

    rows: Any

    @property
    def capacity(self) -> int:
        return jax.tree.leaves(self.rows)[0].shape[0]


def empty(capacity: int, row: Any) -> Replay:
    """Return an empty buffer for rows shaped like `row`, a tree of arrays or of shapes."""
    _require_room(capacity)
    return Replay(jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape), x.dtype), row))


def write(replay: Replay, rows: Any, written: jax.Array) -> Replay:
    """Write rows into the buffer; `written` counts all rows ever written before them.

    The number of rows must divide the capacity, so that they never run over its end: then this is
    a copy into place, which a compiled loop does without copying the buffer.
    """
    start = written % replay.capacity
    return Replay(
        jax.tree.map(
            lambda whole, new: jax.lax.dynamic_update_slice_in_dim(whole, new, start, 0),
            replay.rows,
            rows,
        )
    )


def read(replay: Replay, indices: jax.Array) -> Any:
    return jax.tree.map(lambda whole: whole[indices], replay.rows)


class HostReplay:
    """A buffer in the host's memory, for observations that are large or come from the host."""

    def __init__(self, capacity: int, row: Any) -> None:
        _require_room(capacity)
        self.rows = jax.tree.map(lambda x: np.zeros((capacity, *x.shape), x.dtype), row)
        self.capacity = capacity

    def write(self, rows: Any, written: int) -> None:
        """Write rows; `written` counts all rows ever written before them."""
        count = len(jax.tree.leaves(rows)[0])
        places = (written + np.arange(count)) % self.capacity
        for whole, new in zip(jax.tree.leaves(self.rows), jax.tree.leaves(rows), strict=True):
            whole[places] = new

    def read(self, indices: np.ndarray) -> Any:
        return jax.tree.map(lambda whole: whole[indices], self.rows)


def _require_room(capacity: int) -> None:
    if capacity < 1:
        raise UsageError(
            f"a replay buffer of {capacity} transitions holds nothing",
            where="buffer",
            fix="such as --buffer 100_000",
        )
