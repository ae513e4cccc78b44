"""How likely chance alone is: probabilities of what a uniform shuffle would do.

Order inside a mini-batch does not matter, so all tests are on which samples share one. Tails are
those of a Poisson law with the exact mean; counts of shared pairs spread no more than that.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import special

from nbyt.minibatch.epochs import UNUSED, Epoch
from nbyt.minibatch.rules import Minibatches

# Keys that a test of neighbours looks at: blocks are found with far fewer.
_KEYS = 1 << 17
_CELLS = 8


def same_shuffle(sizes: Sequence[int], samples: int) -> float:
    """The log probability that two shuffles put the same samples into the same mini-batches."""
    own = np.array([*sizes, max(samples - sum(sizes), 0)])
    return float(special.gammaln(own + 1).sum() - special.gammaln(own.sum() + 1))


def same_order(minibatches: int) -> float:
    """The log probability that mini-batches with fixed members come in the same order twice."""
    return -float(special.gammaln(minibatches + 1))


def pair_share(sizes: Sequence[int], samples: int) -> float:
    """The probability that two given samples share a mini-batch."""
    own = np.asarray(sizes, float)
    return float((own * (own - 1)).sum() / (samples * (samples - 1)))


def distinct(
    minibatches: Minibatches, reach: int
) -> tuple[Int[np.ndarray, " keys"], Int[np.ndarray, " keys"]]:
    """Every different sample of every mini-batch, as mini-batch * reach + index; and how often."""
    owner = np.repeat(np.arange(len(minibatches)), [len(one) for one in minibatches])
    return np.unique(owner * reach + np.concatenate(minibatches), return_counts=True)


def thinned(minibatches: Minibatches) -> Minibatches:
    """Mini-batches from all over, as many as are quickly looked at."""
    samples = sum(len(one) for one in minibatches)
    return minibatches[:: max(1, round(samples / _KEYS))]


def neighbours(
    epochs: Sequence[Epoch], used: Bool[np.ndarray, " batch"], lags: Sequence[int]
) -> tuple[Int[np.ndarray, " lags"], Float[np.ndarray, " lags"]]:
    """Pairs of samples a lag apart that share a mini-batch: counted, and expected by chance.

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
    """Pairs of samples that share a mini-batch in both epochs: counted, and expected by chance.

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
    """The log probability of so many or more where so many are expected, by a Poisson law."""
    return 0.0 if count == 0 else _log(special.pdtrc(count - 1, expected))


def log_times(happened: int, chances: int, probability: float) -> float:
    """The log probability that it happens so often or more, in so many independent chances."""
    return 0.0 if happened == 0 else _log(special.bdtrc(happened - 1, chances, probability))


def place_tail(epochs: Sequence[Epoch]) -> float:
    """The log probability of a table [part of the batch, part of the epoch] as uneven as this.

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
