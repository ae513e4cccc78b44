"""Faults of a sampler, each with a code and a sentence, and remarks."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nbyt.minibatch.epochs import AuditSizes, Epoch, Update
from nbyt.minibatch.mixing import Mixing, Neighbours, mixing

CODES = (
    "unused",
    "repeated",
    "whole_batch",
    "tail_dropped",
    "tail_merged",
    "tiny_tail",
    "same_permutation",
    "unshuffled",
    "blocks",
)
# A last mini-batch of less than this share of the others is tiny: its gradient is several times
# noisier, and gets a gradient step of the same weight.
TINY = 1 / 8


@dataclass(frozen=True)
class Fault:
    """A way in which epochs are not fresh uniform shuffles with each sample exactly once."""

    code: str
    message: str

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message}


def faults(updates: Sequence[Update], asked: AuditSizes) -> list[Fault]:
    """Find all faults of the updates, each of which has its own seed."""
    if _holds_all_each_time(updates, asked):
        return [
            Fault(
                "whole_batch",
                f"every mini-batch holds all {asked.batch:,} samples, not {asked.minibatch:,}",
            )
        ]
    found = [*_use(updates, asked), *_sizes(updates)]
    if asked.minibatch < asked.batch:
        found += _mixed(mixing(updates, asked), updates[0], asked)
    return found


def remarks(updates: Sequence[Update], asked: AuditSizes) -> list[str]:
    """Return sentences that are worth knowing but name no fault."""
    first = updates[0]
    usual, sizes = _usual(first), sorted({len(one) for one in first.minibatches})
    found = []
    if usual != asked.minibatch and len(sizes) == 1 and usual < asked.batch:
        found.append(f"mini-batches hold {usual:,} samples, not the {asked.minibatch:,} asked for")
    elif len(sizes) > 1:
        found.append(f"mini-batches hold {sizes[0]:,} to {sizes[-1]:,} samples")
    if first.wraps:
        found.append("passes run into each other: a mini-batch may belong to two epochs")
    return found


def _holds_all_each_time(updates: Sequence[Update], asked: AuditSizes) -> bool:
    return asked.minibatch < asked.batch and all(
        len(one) >= asked.batch and np.bincount(one, minlength=asked.batch).all()
        for update in updates
        for one in update.minibatches
    )


def _use(updates: Sequence[Update], asked: AuditSizes) -> Iterator[Fault]:
    """Find samples used never or more than once in an epoch."""
    epochs = [epoch for update in updates for epoch in update.epochs]
    missing = np.array([(epoch.counts == 0).sum() for epoch in epochs])
    again = np.array([(epoch.counts > 1).sum() for epoch in epochs])
    first = updates[0]
    if first.passes is not None and first.passes < asked.epochs:
        yield Fault("unused", f"{first.passes} of {asked.epochs} epochs were sampled")
    elif _drops_tail(epochs, missing):
        yield Fault(
            "tail_dropped",
            f"the last {missing[0]:,} samples of an epoch's order are dropped"
            + _always_the_same(updates, asked),
        )
    elif missing.any():
        by_fetching = (1 - 1 / asked.batch) ** sum(epochs[0].sizes)
        yield Fault(
            "unused",
            f"{_of(missing, asked)} are in no mini-batch of an epoch"
            + (f"; with replacement {by_fetching:.1%} are expected" if again.any() else "")
            + _always_the_same(updates, asked),
        )
    if again.any():
        yield Fault("repeated", f"{_of(again, asked)} are used more than once an epoch")
    elif first.extra:
        yield Fault(
            "repeated", f"after the last epoch {first.extra:,} more samples are used once again"
        )


def _drops_tail(epochs: Sequence[Epoch], missing: np.ndarray) -> bool:
    """Return True if only the remainder of the division into mini-batches is missing."""
    sizes = {size for epoch in epochs for size in epoch.sizes}
    if len(sizes) > 1 or not all(epoch.apart for epoch in epochs):
        return False
    rest = epochs[0].batch % next(iter(sizes))
    return rest > 0 and bool((missing == rest).all())


def _always_the_same(updates: Sequence[Update], asked: AuditSizes) -> str:
    """Describe samples that no epoch of an update uses, where there is more than one epoch."""
    if asked.epochs == 1:
        return ""
    unused = [np.logical_and.reduce([e.counts == 0 for e in u.epochs]).sum() for u in updates]
    if not np.any(unused):
        return ""
    return f"; {_of(np.array(unused), asked)} are used in no epoch of an update"


def _of(counts: np.ndarray, asked: AuditSizes) -> str:
    mean = float(counts.mean())
    return f"{mean:,.0f} of {asked.batch:,} samples ({mean / asked.batch:.1%})"


def _sizes(updates: Sequence[Update]) -> Iterator[Fault]:
    """Find a last mini-batch that is far smaller or larger than the others."""
    if updates[0].wraps:
        return
    usual = _usual(updates[0])
    sizes = [epoch.sizes for update in updates for epoch in update.epochs if len(epoch.sizes) > 1]
    largest = max((own[-1] for own in sizes if own[-1] > max(own[:-1]) + 1), default=0)
    if largest:
        yield Fault("tail_merged", f"the last mini-batch holds {largest:,} samples, not {usual:,}")
    smallest = min((min(own) for own in sizes), default=usual)
    if smallest < TINY * usual or smallest == 1 < usual:
        yield Fault(
            "tiny_tail",
            f"one mini-batch of an epoch holds {smallest:,} "
            f"sample{'s' if smallest > 1 else ''}, the others {usual:,}",
        )


def _usual(update: Update) -> int:
    return Counter(len(one) for one in update.minibatches).most_common(1)[0][0]


def _mixed(found: Mixing, update: Update, asked: AuditSizes) -> Iterator[Fault]:
    if found.unshuffled:
        yield Fault(
            "unshuffled",
            f"{_which(found.unshuffled, asked)} in the order the samples were collected in, "
            "whatever the seed",
        )
    elif found.uneven:
        yield Fault(
            "unshuffled", "the shuffle is not uniform: where a sample lands depends on its index"
        )
    if found.repeats:
        yield Fault("same_permutation", "epochs of one update repeat each other's mini-batches")
    elif found.frozen:
        yield Fault(
            "same_permutation",
            f"{_which(found.frozen, asked)} the same at every update, whatever the seed",
        )
    if found.blocks:
        most = max(found.blocks.values(), key=lambda one: one.share)
        epoch = update.epochs[max(found.blocks, key=lambda n: found.blocks[n].share)]
        yield Fault(
            "blocks",
            f"{_in_words(most, epoch, asked)} share a mini-batch in {most.share:.0%} of all pairs "
            f"({most.by_chance:.1%} by chance), {_where(tuple(found.blocks), asked)}",
        )


def _in_words(most: Neighbours, epoch: Epoch, asked: AuditSizes) -> str:
    """Describe which samples are neighbours, as far as envs and steps are known."""
    if not asked.envs:
        if most.lag == 1:
            return "neighbours in the index"
        return f"samples {most.lag} apart in the index (steps of one env, if there are so many)"
    if all(_is_whole_envs(one, asked) for one in epoch.minibatches):
        return "mini-batches are whole envs: steps of one env"
    if most.lag == asked.next_step:
        return "steps of one env that follow each other"
    if most.lag == asked.next_env:
        return "neighbouring envs at the same step"
    return f"samples {most.lag} apart in the index"


def _is_whole_envs(one: np.ndarray, asked: AuditSizes) -> bool:
    return len(np.unique(asked.env_of(one))) * asked.steps == len(np.unique(one))


def _which(numbers: tuple[int, ...], asked: AuditSizes) -> str:
    if len(numbers) == asked.epochs:
        return "every epoch is" if asked.epochs > 1 else "the epoch is"
    if len(numbers) == 1:
        return f"epoch {numbers[0] + 1} of {asked.epochs} is"
    return f"{len(numbers)} of {asked.epochs} epochs are"


def _where(numbers: tuple[int, ...], asked: AuditSizes) -> str:
    if len(numbers) == asked.epochs:
        return "in every epoch"
    if len(numbers) == 1:
        return f"in epoch {numbers[0] + 1} of {asked.epochs}"
    return f"in {len(numbers)} of {asked.epochs} epochs"
