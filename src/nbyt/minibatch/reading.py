"""Read the mini-batches of a user's sampler, buffer or loader, which may give anything."""

import copy
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from jaxtyping import Int

from nbyt.errors import UsageError
from nbyt.minibatch.schemes import Minibatches, Sampler

# Live buffers and loaders become samplers without an import of the packages they come from. The
# user's object is never iterated: a copy is, and shared random states are put back.


def sampler_of(thing: Any) -> Sampler:
    """Return a sampler that gives the indices which a live buffer or loader would give.

    Known are a rollout buffer of Stable-Baselines3 and what is like it, a torch DataLoader or
    BatchSampler, an object whose get(minibatch) gives index arrays, and anything that gives the
    index arrays of one epoch each time it is iterated. A sampler passes through.
    """
    if callable(thing):
        return thing
    if hasattr(thing, "get") and hasattr(thing, "_get_samples"):
        return _rollout_buffer(thing)
    if getattr(thing, "batch_sampler", None) is not None:
        return _each_epoch(thing.batch_sampler)
    if hasattr(thing, "get") and not isinstance(thing, dict):
        own = _copied(thing)
        return _seeded(lambda minibatch: own.get(minibatch))
    if isinstance(thing, Iterator):
        raise _unknown(thing, "which can be read only once")
    if isinstance(thing, Iterable) and not isinstance(thing, dict | str | bytes):
        return _each_epoch(thing)
    raise _unknown(thing, "which is none that is known")


def _rollout_buffer(buffer: Any) -> Sampler:
    """Wrap a buffer whose get(minibatch) shuffles all samples and passes their indices on."""
    own = copy.copy(buffer)  # its arrays are shared, and only read
    samples = int(own.buffer_size * own.n_envs)
    own.full = own.generator_ready = True  # no data is looked at, so it need not be there
    own._get_samples = lambda indices, *rest, **more: indices
    sample = _seeded(own.get)

    def checked(batch: int, minibatch: int, epochs: int, seed: int) -> Any:
        if batch != samples:
            raise UsageError(
                f"the buffer holds {samples} samples, not {batch}",
                where="batch",
                fix=f"ask with batch={samples}",
            )
        return sample(batch, minibatch, epochs, seed)

    return checked


def _each_epoch(thing: Any) -> Sampler:
    own = _copied(thing)
    return _seeded(lambda minibatch: own)


def _seeded(epoch: Any) -> Sampler:
    """Return a sampler that asks for epoch after epoch with its own random states."""

    def sample(batch: int, minibatch: int, epochs: int, seed: int) -> Any:
        with _own_random_states(seed):
            return [one for _ in range(epochs) for one in epoch(minibatch)]

    return sample


@contextmanager
def _own_random_states(seed: int) -> Iterator[None]:
    """Seed the shared states of NumPy, Python and torch, and put them back afterwards."""
    torch = sys.modules.get("torch")
    before = np.random.get_state(), random.getstate()
    torch_before = torch.random.get_rng_state() if torch else None
    np.random.seed(seed)
    random.seed(seed)
    if torch:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        np.random.set_state(before[0])
        random.setstate(before[1])
        if torch:
            torch.random.set_rng_state(torch_before)


def _copied(thing: Any) -> Any:
    """Copy the object with its own random states, which continue from call to call."""
    try:
        return copy.deepcopy(thing)
    except Exception as error:  # an object may refuse in any way
        raise _unknown(
            thing, f"which cannot be copied ({type(error).__name__}: {error})"
        ) from error


def _unknown(thing: Any, why: str) -> UsageError:
    return UsageError(
        f"no sampler can be made of {type(thing).__name__}, {why}",
        where="sampler_of",
        fix="write a function sampler(batch, minibatch, epochs, seed) that yields index arrays",
    )


# A sampler may give some times more mini-batches than asked for; one that never ends gives more.
TIMES = 4
# Indices that are read of one call, or twice what was asked for: a sampler that gives all samples
# each time is known long before.
MOST = 1 << 25

_FIX = "yield one array of whole numbers from 0 to batch - 1 for each mini-batch"


def read(
    sampler: Callable[..., Any], batch: int, minibatch: int, epochs: int, seed: int
) -> Minibatches:
    """Return the mini-batches of one update, in order, each an array of indices."""
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
    """Yield the items; turn what the sampler raises into a UsageError with it as the cause."""
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
    """Convert one mini-batch to indices; a mask or a slice will do."""
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
    """Convert anything that NumPy can read, and tensors of a device."""
    fetched = item.detach().cpu() if hasattr(item, "detach") and hasattr(item, "cpu") else item
    try:
        return np.asarray(fetched)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"the sampler gave {_shown(item)}, which is no array", where=where, fix=_FIX
        ) from error


def _shown(thing: Any) -> str:
    return f"{type(thing).__name__} {thing!r:.60}"
