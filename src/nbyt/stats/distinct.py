"""How many different labels a mini-batch shows: states, episodes, or whatever rows belong to."""

import numpy as np
from jaxtyping import Int
from scipy import special


def expected_distinct(labels: Int[np.ndarray, " n"], minibatch: int, *, replace: bool) -> float:
    """The expected number of different labels among m rows fetched at random.

    A label of n_l rows is missed with probability (1 - n_l/n)^m, or C(n-n_l, m) / C(n, m) where no
    row is fetched twice.
    """
    total = len(labels)
    rest = total - np.unique(labels, return_counts=True)[1]
    if replace:
        missed = (rest / total) ** minibatch
    else:
        missed = np.where(rest >= minibatch, _falling(rest, minibatch, total), 0.0)
    return float(np.sum(1 - missed))


def distinct_in_windows(labels: Int[np.ndarray, " n"], minibatch: int) -> float:
    """The mean number of different labels among m rows in a row, over every window of m.

    A row counts in the windows that hold it and not the row before it of the same label.
    """
    total = len(labels)
    order = np.argsort(labels, kind="stable")
    before = np.full(total, -1)
    same = labels[order[1:]] == labels[order[:-1]]
    before[order[1:][same]] = order[:-1][same]
    place = np.arange(total)
    first = np.maximum(np.maximum(before, place - minibatch) + 1, 0)
    last = np.minimum(place, total - minibatch)
    return float(np.maximum(last - first + 1, 0).sum() / (total - minibatch + 1))


def mean_distinct(labels: Int[np.ndarray, " n"], places: Int[np.ndarray, "k m"]) -> float:
    """The mean number of different labels in mini-batches that were drawn."""
    return float(np.mean([len(np.unique(labels[one])) for one in places]))


def _falling(rest: np.ndarray, minibatch: int, total: int) -> np.ndarray:
    logs = special.gammaln
    kept = np.maximum(rest, minibatch)
    ratio = logs(kept + 1) - logs(kept - minibatch + 1)
    return np.exp(ratio - (logs(total + 1) - logs(total - minibatch + 1)))
