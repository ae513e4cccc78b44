"""Tests of mixing: which samples share a mini-batch, and do they anew each epoch?

Each probability is compared with `FALSE_ALARMS` over the number of tests, so that a right sampler
is called wrong at most that often.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import special

from nbyt.minibatch.epochs import UNUSED, AuditSizes, Epoch, Update
from nbyt.minibatch.schemes import Minibatches

# Order inside a mini-batch does not matter, so all tests are on which samples share one. Tails are
# those of a Poisson law with the exact mean; counts of shared pairs spread no more than that.

# Keys that a test of neighbours looks at: blocks are found with far fewer.
_KEYS = 1 << 17
_CELLS = 8


def same_shuffle(sizes: Sequence[int], samples: int) -> float:
    """Return the log probability that two shuffles give the same mini-batches."""
    own = np.array([*sizes, max(samples - sum(sizes), 0)])
    return float(special.gammaln(own + 1).sum() - special.gammaln(own.sum() + 1))


def same_order(minibatches: int) -> float:
    """Return the log probability that fixed mini-batches come in the same order twice."""
    return -float(special.gammaln(minibatches + 1))


def pair_share(sizes: Sequence[int], samples: int) -> float:
    """Return the probability that two given samples share a mini-batch."""
    own = np.asarray(sizes, float)
    return float((own * (own - 1)).sum() / (samples * (samples - 1)))


def distinct(
    minibatches: Minibatches, reach: int
) -> tuple[Int[np.ndarray, " keys"], Int[np.ndarray, " keys"]]:
    """Return the distinct samples of every mini-batch as mini-batch * reach + index, and counts."""
    owner = np.repeat(np.arange(len(minibatches)), [len(one) for one in minibatches])
    return np.unique(owner * reach + np.concatenate(minibatches), return_counts=True)


def thinned(minibatches: Minibatches) -> Minibatches:
    """Return evenly chosen mini-batches, few enough to be compared quickly."""
    samples = sum(len(one) for one in minibatches)
    return minibatches[:: max(1, round(samples / _KEYS))]


def neighbours(
    epochs: Sequence[Epoch], used: Bool[np.ndarray, " batch"], lags: Sequence[int]
) -> tuple[Int[np.ndarray, " lags"], Float[np.ndarray, " lags"]]:
    """Count pairs a lag apart that share a mini-batch; return also the count expected by chance.

    Of each mini-batch only its different samples count, so fetching with replacement is no block.
    used: samples that are used at all; what is left out for good is another fault.
    """
    chosen = thinned([one for epoch in epochs for one in epoch.minibatches])
    reach = len(used) + max(lags)
    keys, _ = distinct(chosen, reach)
    share = pair_share(np.bincount(keys // reach).tolist(), int(used.sum()))
    found, pairs = [], []
    for lag in lags:
        at = np.searchsorted(keys, keys + lag)
        found.append(int((keys[np.minimum(at, len(keys) - 1)] == keys + lag).sum()))
        pairs.append(int((used[lag:] & used[:-lag]).sum()))
    return np.array(found), share * np.array(pairs, float)


def kept_pairs(one: Epoch, other: Epoch) -> tuple[int, float]:
    """Count pairs that share a mini-batch in both epochs, and the count expected by chance.

    Only samples that both use are looked at, so that what is dropped at random is no pattern.
    """
    both = (one.labels != UNUSED) & (other.labels != UNUSED)
    here, there = one.labels[both], other.labels[both]
    samples = len(here)
    if samples < 2:
        return 0, 0.0
    cells = np.unique(here * len(other.minibatches) + there, return_counts=True)[1]
    shares = [pair_share(np.bincount(labels).tolist(), samples) for labels in (here, there)]
    return int((cells * (cells - 1) // 2).sum()), shares[0] * shares[1] * math.comb(samples, 2)


def log_tail(count: int, expected: float) -> float:
    """Return the log probability of at least this count under a Poisson law."""
    return 0.0 if count == 0 else _log(special.pdtrc(count - 1, expected))


def log_times(happened: int, chances: int, probability: float) -> float:
    """Return the log probability of at least so many successes in independent trials."""
    return 0.0 if happened == 0 else _log(special.bdtrc(happened - 1, chances, probability))


def place_tail(epochs: Sequence[Epoch]) -> float:
    """Return the log probability of a table [part of batch, part of epoch] at least this uneven.

    Chi-square over all epochs together. Margins are fixed and samples are drawn without
    replacement, so the statistic is scaled by (B - 1) / B.
    """
    batch = epochs[0].batch
    labels = np.stack([epoch.labels for epoch in epochs])
    rows = min(_CELLS, batch)
    columns = min(_CELLS, max(len(epoch.minibatches) for epoch in epochs))
    part = np.arange(batch) * rows // batch
    table, expected = np.zeros((rows, columns)), np.zeros((rows, columns))
    weights = np.bincount(part, minlength=rows) / batch
    for own, epoch in zip(labels, epochs, strict=True):
        place = own * columns // len(epoch.minibatches)
        np.add.at(table, (part, place), 1)
        expected += np.outer(weights, np.bincount(place, minlength=columns))
    if columns < 2 or expected.min() < 10:
        return 0.0
    statistic = ((table - expected) ** 2 / expected).sum() * (batch - 1) / batch
    return _log(special.chdtrc((rows - 1) * (columns - 1), statistic))


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


FALSE_ALARMS = 1e-5
# Neighbours up to so far apart are looked at, and all strides that divide the batch.
_NEAR = 8
_STRIDES = 64
# How far apart epochs are compared, and how many pairs of them.
_EPOCHS_APART = 3
_PAIRS = 64
# Mini-batches that are known to be the same each time are called blocks below this probability.
_NAMING = 1e-3


@dataclass(frozen=True)
class Neighbours:
    """Samples `lag` apart in the index: the share of pairs in one mini-batch, and by chance."""

    lag: int
    share: float
    by_chance: float


@dataclass(frozen=True)
class Mixing:
    """Findings by number of the epoch from 0; empty where the mixing is right.

    blocks: the neighbours that share mini-batches most. unshuffled: epochs in the order of
    collection. frozen: epochs that are the same at every update, in some other order. repeats:
    whether epochs of one update repeat each other, wholly or in part. uneven: whether where a
    sample lands depends on its index.
    """

    blocks: dict[int, Neighbours]
    unshuffled: tuple[int, ...]
    frozen: tuple[int, ...]
    repeats: bool
    uneven: bool


def mixing(updates: Sequence[Update], asked: AuditSizes) -> Mixing:
    """Find what is wrong with the mixing of these updates, each of which has its own seed."""
    columns = list(zip(*(update.epochs for update in updates), strict=False))
    lags = _lags(asked)
    tests = len(columns) * (len(lags) + 2) + 2 * _EPOCHS_APART + 1
    line = math.log(FALSE_ALARMS / tests)
    used = np.logical_or.reduce([e.counts > 0 for column in columns for e in column])
    samples = int(used.sum())
    alike = {n for n, column in enumerate(columns) if _alike(list(pairwise(column)), line)}
    blocks = {}
    for number, column in enumerate(columns):
        same = number in alike and _mostly_same(list(pairwise(column)))
        found = _blocks(column, used, lags, None if same else line)
        if found is not None:
            blocks[number] = found
    fixed = {n for n, column in enumerate(columns) if _fixed(column, n in blocks, samples, line)}
    unshuffled = {n for n in fixed if n in blocks or _in_order(columns[n][0], asked)}
    frozen = (fixed | (alike - set(blocks))) - unshuffled
    repeats = _repeats(updates, set(blocks), unshuffled, samples, line)
    whole = [e for column in columns for e in column if e.apart and e.counts.all()]
    sound = not (blocks or frozen or unshuffled or repeats)
    uneven = sound and bool(whole) and place_tail(whole) < line
    return Mixing(blocks, tuple(sorted(unshuffled)), tuple(sorted(frozen)), repeats, uneven)


def _lags(asked: AuditSizes) -> list[int]:
    strides = [n for n in range(1, asked.batch // 2 + 1) if asked.batch % n == 0][:_STRIDES]
    own = (asked.next_step, asked.next_env) if asked.envs else ()
    return sorted({lag for lag in (*range(1, _NEAR + 1), *strides, *own) if 0 < lag < asked.batch})


def _blocks(
    column: Sequence[Epoch], used: np.ndarray, lags: list[int], line: float | None
) -> Neighbours | None:
    """Return the neighbours that share mini-batches most, if they do more often than by chance.

    line: None if all updates have the same mini-batches. Then they count once, and since that is a
    fault already, it is only the question which; `_NAMING` decides.
    """
    epochs = column[:1] if line is None else column
    counted, expected = neighbours(epochs, used, lags)
    keys, _ = distinct(column[0].minibatches, len(used))
    share = pair_share(np.bincount(keys // len(used)).tolist(), int(used.sum()))
    above = []
    for lag, count, mean in zip(lags, counted.tolist(), expected.tolist(), strict=True):
        if line is None:
            is_block = log_times(count, round(mean / share), share) < math.log(_NAMING)
        else:
            is_block = log_tail(count, mean) < line
        if is_block:
            above.append(Neighbours(lag, share * count / mean, share))
    most = max((one.share for one in above), default=0.0)
    # The nearest of those that are about as close says most.
    return next((one for one in above if one.share >= 0.8 * most), None)


def _fixed(column: Sequence[Epoch], in_blocks: bool, samples: int, line: float) -> bool:
    """Return True if every update has the same mini-batches in the same order."""
    same = [one.same_as(column[0]) for one in column[1:]]
    return all(same) and len(same) * _same(column[0], in_blocks, samples) < line


def _same(epoch: Epoch, in_blocks: bool, samples: int) -> float:
    """Return the log probability that two epochs agree; blocks can only change their order."""
    if in_blocks:
        return same_order(len(epoch.minibatches))
    return same_shuffle(epoch.sizes, samples)


def _in_order(epoch: Epoch, asked: AuditSizes) -> bool:
    """Return True if mini-batches follow the order of the samples, by step or by env."""
    orders = [epoch.labels]
    if asked.envs:
        orders.append(epoch.labels[np.argsort(asked.env_of(np.arange(asked.batch)), kind="stable")])
    changes = [np.diff(labels[labels >= 0]) for labels in orders]
    return any((change >= 0).all() or (change <= 0).all() for change in changes)


def _repeats(
    updates: Sequence[Update], blocks: set[int], skipped: set[int], samples: int, line: float
) -> bool:
    """Return True if epochs of an update agree, or keep more pairs together than by chance."""
    for apart in range(1, _EPOCHS_APART + 1):
        pairs = [
            (update.epochs[number], update.epochs[number + apart], {number, number + apart})
            for update in updates
            for number in range(len(update.epochs) - apart)
            if not {number, number + apart} & skipped
        ]
        if not pairs:
            continue
        chances = max(_same(one, bool(numbers & blocks), samples) for one, _, numbers in pairs)
        same = sum(one.same_as(other) for one, other, _ in pairs)
        free = [(one, other) for one, other, numbers in pairs if not numbers & blocks]
        if log_times(same, len(pairs), math.exp(chances)) < line:
            return True
        if _alike(free, line):
            return True
    return False


def _alike(pairs: list[tuple[Epoch, Epoch]], line: float) -> bool:
    """Return True if samples that share a mini-batch stay together from epoch to epoch."""
    kept = [kept_pairs(one, other) for one, other in _comparable(pairs)]
    return log_tail(sum(n for n, _ in kept), math.fsum(mean for _, mean in kept)) < line


def _mostly_same(pairs: list[tuple[Epoch, Epoch]]) -> bool:
    """Return True if most samples that share a mini-batch do so in both epochs."""
    kept = [kept_pairs(one, other)[0] for one, other in _comparable(pairs)]
    possible = [math.comb(size, 2) for one, _ in _comparable(pairs) for size in one.sizes]
    return 2 * sum(kept) > sum(possible)


def _comparable(pairs: list[tuple[Epoch, Epoch]]) -> list[tuple[Epoch, Epoch]]:
    return [(one, other) for one, other in pairs if one.apart and other.apart][:_PAIRS]
