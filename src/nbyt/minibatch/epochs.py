"""Split a sampler's mini-batches into epochs, and label each sample with its mini-batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Int

from nbyt.errors import LayoutError, UsageError
from nbyt.minibatch.schemes import Minibatches
from nbyt.numbers import PASSES, SIZE, require

Order = Literal["time-major", "env-major"]
ORDERS: tuple[Order, ...] = ("time-major", "env-major")
# A rollout that nobody gave a shape has this many steps, or as many as divide the batch.
_USUAL_STEPS = 128


@dataclass(frozen=True)
class AuditSizes:
    """The sizes of an update; envs and steps are 0 where they are not known.

    order: index t * N + n is step t of env n ("time-major"), or n * T + t is ("env-major").
    """

    batch: int
    minibatch: int
    epochs: int
    envs: int = 0
    steps: int = 0
    order: Order = "time-major"

    @property
    def next_step(self) -> int:
        """Return the distance in the index between two successive steps of an env."""
        return self.envs if self.order == "time-major" else 1

    @property
    def next_env(self) -> int:
        """Return the distance in the index between neighbouring envs at the same step."""
        return 1 if self.order == "time-major" else self.steps

    def env_of(self, indices: Int[np.ndarray, "..."]) -> Int[np.ndarray, "..."]:
        return indices % self.envs if self.order == "time-major" else indices // self.steps

    def as_time_major(self, indices: Int[np.ndarray, "..."]) -> Int[np.ndarray, "..."]:
        """Return the same samples as t * N + n."""
        if self.order == "time-major":
            return indices
        return indices % self.steps * self.envs + indices // self.steps


def audit_sizes(
    batch: int, minibatch: int, epochs: int, envs: int | None, steps: int | None, order: str
) -> AuditSizes:
    """Check the sizes of an audit; one of envs and steps gives the other."""
    batch, minibatch = require(SIZE, batch=batch, minibatch=minibatch)
    epochs, (envs, steps) = PASSES.check(epochs, "epochs"), require(SIZE, envs=envs, steps=steps)
    if order not in ORDERS:
        raise UsageError(
            f"'{order}' is no order of samples", where="order", fix=f"one of {', '.join(ORDERS)}"
        )
    if minibatch > batch:
        raise LayoutError(
            f"a mini-batch of {minibatch} is larger than the batch of {batch}",
            where="minibatch",
            fix=f"at most {batch}",
        )
    found = {name: value for name, value in (("envs", envs), ("steps", steps)) if value is not None}
    for name, value in found.items():
        if batch % value:
            raise LayoutError(
                f"{batch} samples are no whole number of {value} {name}",
                where=name,
                fix=f"use a divisor of {batch}",
            )
    if len(found) == 2 and found["envs"] * found["steps"] != batch:
        raise LayoutError(
            f"{envs} envs x {steps} steps are {found['envs'] * found['steps']} samples, "
            f"not {batch}",
            where="envs",
            fix=f"give --envs {batch // found['steps']}, or leave one of the two out",
        )
    own_envs = found.get("envs") or (batch // found["steps"] if found else 0)
    known: Order = "env-major" if order == "env-major" else "time-major"
    return AuditSizes(
        batch, minibatch, epochs, own_envs, batch // own_envs if own_envs else 0, known
    )


def default_split(batch: int) -> tuple[int, int]:
    """Return envs and steps of a batch without a shape: at most 128 steps."""
    steps = max(n for n in range(1, min(_USUAL_STEPS, batch) + 1) if batch % n == 0)
    return batch // steps, steps


UNUSED = -1


@dataclass(frozen=True)
class Epoch:
    """One pass: the mini-batches, or where passes run into each other the parts in this one."""

    batch: int
    minibatches: Minibatches = field(repr=False)

    @cached_property
    def counts(self) -> Int[np.ndarray, " batch"]:
        return np.bincount(np.concatenate(self.minibatches), minlength=self.batch)

    @cached_property
    def labels(self) -> Int[np.ndarray, " batch"]:
        """Return the mini-batch of each sample, the last one if in several; -1 if in none."""
        found = np.full(self.batch, UNUSED)
        for number, one in enumerate(self.minibatches):
            found[one] = number
        return found

    @cached_property
    def apart(self) -> bool:
        """Return True if no sample is used twice."""
        return bool((self.counts <= 1).all())

    @cached_property
    def sizes(self) -> list[int]:
        return [len(one) for one in self.minibatches]

    def same_as(self, other: "Epoch") -> bool:
        """Return True if both have the same samples in the same mini-batches, in the same order."""
        if self.apart and other.apart:
            return np.array_equal(self.labels, other.labels)
        return self.sizes == other.sizes and all(
            np.array_equal(np.sort(a), np.sort(b))
            for a, b in zip(self.minibatches, other.minibatches, strict=True)
        )


@dataclass(frozen=True)
class Update:
    """One call of a sampler: its mini-batches, cut into epochs.

    wraps: passes run into each other, so that a mini-batch may belong to two. passes: how many
    whole ones were given, where that is not the number asked for. extra: indices after the last.
    """

    minibatches: Minibatches = field(repr=False)
    epochs: tuple[Epoch, ...] = field(repr=False)
    wraps: bool = False
    passes: int | None = None
    extra: int = 0


def cut(
    calls: Sequence[Minibatches], alone: Minibatches, batch: int, epochs: int
) -> tuple[Update, ...]:
    """Split every call into epochs; `alone` is what the sampler gives for a single epoch.

    Passes that run into each other are told by the stream of indices: cut every `batch` of them,
    each piece holds every sample once, in every call.
    """
    each, whole_alone = len(alone), sum(len(one) for one in alone) == batch
    as_told = all(len(call) == epochs * each for call in calls)
    passes = [] if as_told and whole_alone else [_passes(call, batch) for call in calls]
    if passes and all(passes):
        return tuple(
            _wrapped(call, own, batch, epochs) for call, own in zip(calls, passes, strict=True)
        )
    if not as_told:
        # Nothing tells where an epoch ends: equal shares of the mini-batches stand for them.
        each = -(-max(len(call) for call in calls) // epochs)
    return tuple(Update(call, _groups(call, each, batch)) for call in calls)


def _groups(minibatches: Minibatches, each: int, batch: int) -> tuple[Epoch, ...]:
    firsts = range(0, len(minibatches), each)
    return tuple(Epoch(batch, minibatches[first : first + each]) for first in firsts)


def _wrapped(minibatches: Minibatches, passes: list[Epoch], batch: int, epochs: int) -> Update:
    ends = np.cumsum([len(one) for one in minibatches])
    borders = batch * np.arange(1, len(passes) + 1)
    return Update(
        minibatches,
        tuple(passes[:epochs]),
        wraps=not np.isin(borders, ends).all(),
        passes=None if len(passes) == epochs else len(passes),
        extra=int(ends[-1]) - len(passes) * batch,
    )


def _passes(minibatches: Minibatches, batch: int) -> list[Epoch]:
    """Cut the stream of indices every `batch` of them; empty if a piece holds a sample twice."""
    stream = np.concatenate(minibatches)
    owner = np.repeat(np.arange(len(minibatches)), [len(one) for one in minibatches])
    found = []
    for first in range(0, len(stream) - batch + 1, batch):
        piece, owners = stream[first : first + batch], owner[first : first + batch]
        if np.bincount(piece, minlength=batch).max() > 1:
            return []
        found.append(Epoch(batch, np.split(piece, np.flatnonzero(np.diff(owners)) + 1)))
    return found
