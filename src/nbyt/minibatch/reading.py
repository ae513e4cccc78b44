"""What a sampler gives, read with care: it is somebody's code, and may give anything."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np
from jaxtyping import Int

from nbyt.errors import UsageError
from nbyt.minibatch.rules import Minibatches

# A sampler may give some times more mini-batches than asked for; one that never ends gives more.
TIMES = 4
# Indices that are read of one call, or twice what was asked for: a sampler that gives all samples
# each time is known long before.
MOST = 1 << 25

_FIX = "yield one array of whole numbers from 0 to batch - 1 for each mini-batch"


def read(
    sampler: Callable[..., Any], batch: int, minibatch: int, epochs: int, seed: int
) -> Minibatches:
    """The mini-batches of one update, in order, each an array of indices."""
    where = f"batch {batch}, minibatch {minibatch}, epochs {epochs}, seed {seed}"
    most = TIMES * epochs * -(-batch // minibatch) + 16
    found: Minibatches = []
    indices = 0
    given = _items(sampler, (batch, minibatch, epochs, seed), where)
    for number, item in enumerate(islice(given, most + 1), start=1):
        if number > most:
            raise UsageError(
                f"the sampler gave more than {most} mini-batches, and reading stopped there",
                where=where,
                fix="stop after `epochs` passes over the batch; an endless sampler is not one "
                "update",
            )
        found.append(_indices(item, batch, f"mini-batch {number}, {where}"))
        indices += len(found[-1])
        if indices > max(MOST, 2 * epochs * batch):
            break
    if not found:
        raise UsageError("the sampler gave no mini-batch", where=where, fix=_FIX)
    return found


def _items(
    sampler: Callable[..., Any], sizes: tuple[int, int, int, int], where: str
) -> Iterable[Any]:
    """Item after item; what the sampler raises becomes an error of ours, with its own as cause."""
    try:
        given = sampler(*sizes)
        if not isinstance(given, Iterable) or isinstance(given, dict | str | bytes):
            raise UsageError(
                f"the sampler gave {_shown(given)}, not mini-batches", where=where, fix=_FIX
            )
        yield from given
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"the sampler raised {type(error).__name__}: {error}",
            where=where,
            fix="it is called as sampler(batch, minibatch, epochs, seed)",
        ) from error


def _indices(item: Any, batch: int, where: str) -> Int[np.ndarray, " size"]:
    """One mini-batch as indices; a mask or a slice of the batch is as good as its indices."""
    if isinstance(item, slice):
        item = np.arange(batch)[item]
    array = _array(item, where)
    if array.dtype == bool and array.shape == (batch,):
        array = np.flatnonzero(array)
    if array.size == 0:
        raise UsageError("the sampler gave an empty mini-batch", where=where, fix=_FIX)
    if array.ndim == 0 or array.dtype.kind not in "iu":
        raise UsageError(
            f"the sampler gave {_shown(item)}, not an array of whole numbers",
            where=where,
            fix=_FIX,
        )
    wrong = array[(array < 0) | (array >= batch)]
    if wrong.size:
        raise UsageError(
            f"the sampler gave index {wrong.flat[0]}, not one of 0 to {batch - 1}",
            where=where,
            fix=_FIX,
        )
    return array.reshape(-1).astype(np.int32)


def _array(item: Any, where: str) -> np.ndarray:
    """Anything that NumPy can read; tensors of a device are fetched from it."""
    fetched = item.detach().cpu() if hasattr(item, "detach") and hasattr(item, "cpu") else item
    try:
        return np.asarray(fetched)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"the sampler gave {_shown(item)}, which is no array", where=where, fix=_FIX
        ) from error


def _shown(thing: Any) -> str:
    return f"{type(thing).__name__} {thing!r:.60}"
