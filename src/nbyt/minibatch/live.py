"""Live buffers and loaders as samplers, without importing the packages they come from.

The user's object is never iterated: a copy is, and random states that all share are put back.
"""

import copy
import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from nbyt.errors import UsageError
from nbyt.minibatch.schemes import Sampler


def sampler_of(thing: Any) -> Sampler:
    """A sampler that gives the indices which a live buffer or loader would give.

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
    """Of a buffer whose get(minibatch) shuffles all samples and hands the indices on."""
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
    """A sampler that asks for an epoch again and again, with shared random states of its own."""

    def sample(batch: int, minibatch: int, epochs: int, seed: int) -> Any:
        with _own_random_states(seed):
            return [one for _ in range(epochs) for one in epoch(minibatch)]

    return sample


@contextmanager
def _own_random_states(seed: int) -> Iterator[None]:
    """NumPy's, Python's and torch's shared states are seeded inside, and put back afterwards."""
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
    """A copy with random states of its own, which go on from call to call."""
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
