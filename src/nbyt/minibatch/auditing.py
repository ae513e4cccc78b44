"""The audit of a sampler: is every epoch a fresh uniform shuffle with each sample exactly once?"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nbyt.minibatch.epochs import AuditSizes, Update, audit_sizes, cut
from nbyt.minibatch.faults import Fault, faults, remarks
from nbyt.minibatch.mixing import distinct, thinned
from nbyt.minibatch.reading import read, sampler_of
from nbyt.numbers import require_seeds


@dataclass(frozen=True)
class Penalty:
    """Var(G_mb) of a sampler over Var(G_mb) of shuffle-and-chop, and the bounds it lies between."""

    value: float | None
    low: float | None
    high: float | None
    reason: str = ""

    def as_dict(self) -> dict[str, float | str | None]:
        found: dict[str, float | str | None] = {
            "value": self.value,
            "low": self.low,
            "high": self.high,
        }
        return {**found, "reason": self.reason} if self.reason else found


NO_FORMULA = Penalty(
    None, None, None, "samples that share mini-batches are correlated: no formula, only a rollout"
)


def from_formula(updates: Sequence[Update], asked: AuditSizes) -> Penalty:
    """Compute the penalty of a sampler that treats all samples alike.

    A mini-batch that weighs samples by w adds S² (Σw² - 1/n) to Var(G_B): (1 - m/n) S²/m for m
    different ones, (n-1)/n S²/m when they are fetched with replacement. The value is that of
    independent samples, Var(G_B) = S²/n. The bounds hold whatever Var(G_B) is.
    """
    weight = squared_weights(updates)
    usual, all_samples = 1 / asked.minibatch, 1 / asked.batch
    value = weight / usual
    if asked.minibatch == asked.batch:
        # Shuffled mini-batches add nothing here, so there is no bound of what is added instead.
        return Penalty(value, min(value, 1.0), value if value <= 1 + 1e-12 else None)
    added = (weight - all_samples) / (usual - all_samples)
    return Penalty(value, min(1.0, added), max(1.0, added))


def squared_weights(updates: Sequence[Update]) -> float:
    """Return the mean of Σw² over mini-batches; 1/m for m different samples."""
    return float(np.mean([_of_update(update) for update in updates]))


def _of_update(update: Update) -> float:
    if all(epoch.apart for epoch in update.epochs) and not update.wraps:
        return float(np.mean([1 / len(one) for one in update.minibatches]))
    some = thinned(update.minibatches)
    reach = update.epochs[0].batch
    keys, times = distinct(some, reach)
    sums = np.bincount(keys // reach, weights=times.astype(float) ** 2)
    return float(np.mean(sums / np.array([len(one) for one in some]) ** 2))


# Updates that are looked at, each with a seed of its own; more where one says little.
UPDATES = (8, 64)
_FEW_MINIBATCHES = 3
_UPDATES_OF_FEW = 32
_SAMPLES = 4096
# Of huge updates fewer are looked at: what is wrong with them shows in one.
_MOST_INDICES = 1 << 25
_LEAST_UPDATES = 4


@dataclass(frozen=True)
class Audit:
    """What was found: all faults, the share of samples an epoch uses, and what that costs.

    minibatch_sizes: of the first epoch. unused: samples in no mini-batch of an epoch, on average.
    seeds: of the updates that were looked at.
    """

    faults: tuple[Fault, ...]
    coverage: float
    variance_penalty: Penalty
    minibatch_sizes: tuple[int, ...]
    unused: float
    seeds: tuple[int, ...]
    remarks: tuple[str, ...]
    asked: AuditSizes
    updates: tuple[Update, ...] = field(repr=False)

    @property
    def ok(self) -> bool:
        """Return True if every epoch is a fresh uniform shuffle with each sample exactly once."""
        return not self.faults

    @property
    def codes(self) -> set[str]:
        """Return the codes of the faults."""
        return {fault.code for fault in self.faults}

    def as_dict(self) -> dict[str, Any]:
        """Return what `nbyt audit --json` prints."""
        return {
            "ok": self.ok,
            "faults": [fault.as_dict() for fault in self.faults],
            "coverage": self.coverage,
            "variance_penalty": self.variance_penalty.as_dict(),
            "minibatch_sizes": list(self.minibatch_sizes),
            "unused": self.unused,
            "remarks": list(self.remarks),
            "updates": len(self.seeds),
        }


def audit(
    sampler: Any,
    *,
    batch: int,
    minibatch: int,
    epochs: int,
    seed: int = 0,
    envs: int | None = None,
    steps: int | None = None,
    order: str = "time-major",
) -> Audit:
    """Audit a sampler: is every epoch a fresh uniform shuffle with each sample exactly once?

    Parameters
    ----------
    sampler : callable, buffer or loader
        Called as sampler(batch, minibatch, epochs, seed), it returns the index arrays of one
        update's mini-batches. A live buffer or loader will do, too: see `sampler_of`.
    batch, minibatch, epochs : int
        Sizes of an update.
    seed : int, default 0
        Seed of the first update; every further update has the next one.
    envs, steps : int, optional
        Shape of the batch, which distinguishes steps from envs; one of them gives the other.
    order : {"time-major", "env-major"}
        Whether index t * N + n or index n * T + t is step t of env n.

    Returns
    -------
    Audit
        All faults, the share of samples that an epoch uses, and the variance penalty.

    Examples
    --------
    A sampler that never shuffles:

    >>> import numpy as np
    >>> def in_order(batch, minibatch, epochs, seed):
    ...     return list(np.arange(batch).reshape(-1, minibatch)) * epochs
    >>> report = audit(in_order, batch=64, minibatch=16, epochs=4)
    >>> report.ok, sorted(report.codes)
    (False, ['blocks', 'unshuffled'])
    """
    sampler = sampler_of(sampler)
    asked = audit_sizes(batch, minibatch, epochs, envs, steps, order)
    batch, minibatch, epochs = asked.batch, asked.minibatch, asked.epochs
    seed = require_seeds(seed, _updates(asked))
    seeds = tuple(range(seed, seed + _updates(asked)))
    calls = [read(sampler, batch, minibatch, epochs, own) for own in seeds]
    alone = calls[0] if epochs == 1 else read(sampler, batch, minibatch, 1, seed)
    updates = cut(calls, alone, batch, epochs)
    found = tuple(faults(updates, asked))
    counts = [epoch.counts > 0 for update in updates for epoch in update.epochs]
    coverage = float(np.mean([one.mean() for one in counts]))
    return Audit(
        found,
        coverage,
        _penalty(found, updates, asked),
        tuple(updates[0].epochs[0].sizes),
        (1 - coverage) * batch,
        seeds,
        tuple(remarks(updates, asked)),
        asked,
        updates,
    )


def _updates(asked: AuditSizes) -> int:
    """Return how many updates to audit: more for small batches and for few mini-batches."""
    size = asked.batch * asked.epochs
    few = _UPDATES_OF_FEW if asked.batch // asked.minibatch <= _FEW_MINIBATCHES else UPDATES[0]
    wanted = int(np.clip(_SAMPLES // size, few, UPDATES[1]))
    return max(_LEAST_UPDATES, min(wanted, _MOST_INDICES // size))


def _penalty(found: tuple[Fault, ...], updates: tuple[Update, ...], asked: AuditSizes) -> Penalty:
    """Apply the formula, unless neighbours share mini-batches."""
    if {"blocks", "unshuffled"} & {fault.code for fault in found}:
        return NO_FORMULA
    return from_formula(updates, asked)
