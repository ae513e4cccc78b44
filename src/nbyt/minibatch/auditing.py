"""The audit of a sampler: is every epoch a fresh uniform shuffle with each sample exactly once?"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nbyt.minibatch.asked import Asked, ask
from nbyt.minibatch.epochs import Update, cut
from nbyt.minibatch.faults import Fault, faults, remarks
from nbyt.minibatch.live import sampler_of
from nbyt.minibatch.penalty import NO_FORMULA, Penalty, from_formula
from nbyt.minibatch.reading import read
from nbyt.rng import require_seed

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
    asked: Asked
    updates: tuple[Update, ...] = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether every epoch is a fresh uniform shuffle with each sample exactly once."""
        return not self.faults

    @property
    def codes(self) -> set[str]:
        """The codes of all faults."""
        return {fault.code for fault in self.faults}

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as JSON output promises it."""
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
    """What a sampler does to a batch; it is called as sampler(batch, minibatch, epochs, seed).

    A live buffer or loader will do, too: see `sampler_of`.
    envs and steps tell time from envs; order: index t * N + n ("time-major") or n * T + t
    ("env-major") is step t of env n.
    """
    sampler = sampler_of(sampler)
    asked = ask(batch, minibatch, epochs, envs, steps, order)
    batch, minibatch, epochs = asked.batch, asked.minibatch, asked.epochs
    seed = require_seed(seed, count=_updates(asked))
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


def _updates(asked: Asked) -> int:
    """More updates where a batch is small, or where few mini-batches can change places."""
    size = asked.batch * asked.epochs
    few = _UPDATES_OF_FEW if asked.batch // asked.minibatch <= _FEW_MINIBATCHES else UPDATES[0]
    wanted = int(np.clip(_SAMPLES // size, few, UPDATES[1]))
    return max(_LEAST_UPDATES, min(wanted, _MOST_INDICES // size))


def _penalty(found: tuple[Fault, ...], updates: tuple[Update, ...], asked: Asked) -> Penalty:
    """By the formula, unless neighbours share mini-batches or some samples are preferred."""
    if {"blocks", "unshuffled"} & {fault.code for fault in found}:
        return NO_FORMULA
    return from_formula(updates, asked)
