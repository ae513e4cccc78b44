"""Rows in the order they were collected in: how alike neighbours are, and what means of them do.

All is exact for the rows that are given: nothing is drawn. Rows are vectors, such as gradients, and
deviations are distances from their mean.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy import special, stats

from nbyt.stats.estimate import LEVEL, Estimate, undetermined


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


_LEAST = 6
"""Values below which no two of them enclose the median 95 % of the time."""


def median(values: Float[np.ndarray, " n"]) -> Estimate:
    """The median of independent values, between two of them by the binomial law of their ranks."""
    ordered = np.sort(np.asarray(values, float))
    count = len(ordered)
    if count < _LEAST:
        return undetermined(f"{count} values are too few for a median's interval", count)
    below = int(stats.binom.ppf((1 - LEVEL) / 2, count, 0.5)) - 1
    low, high = max(below, 0), min(count - 1 - below, count - 1)
    return Estimate(float(np.median(ordered)), ordered[low], ordered[high], count)


def deviations(rows: Float[np.ndarray, "n P"]) -> Float[np.ndarray, "n P"]:
    """The rows less their mean."""
    return rows - rows.mean(axis=0, dtype=float).astype(rows.dtype)


def lag_correlations(apart: Float[np.ndarray, "n P"], lags: Iterable[int]) -> list[float]:
    """Mean product of deviations so many rows apart, over their mean square; nan if all are 0.

    Two different rows fetched at random have -1 / (n-1).
    """
    square = _mean_product(apart, apart)
    with np.errstate(invalid="ignore", divide="ignore"):
        return [float(_mean_product(apart[:-lag], apart[lag:]) / square) for lag in lags]


def mean_cosine(first: Float[np.ndarray, "n P"], second: Float[np.ndarray, "n P"]) -> float:
    """The mean cosine of pairs of rows; pairs with a row of 0 are left out."""
    lengths = [np.sqrt(np.einsum("ij,ij->i", x, x, dtype=float)) for x in (first, second)]
    scale = lengths[0] * lengths[1]
    fine = scale > 0
    products = np.einsum("ij,ij->i", first, second, dtype=float)
    return float((products[fine] / scale[fine]).mean()) if fine.any() else float("nan")


def of_windows(apart: Float[np.ndarray, "n P"], sizes: Sequence[int]) -> list[float]:
    """Mean square of the mean deviation of m rows in a row, over every window of m.

    sizes: rising powers of 2, because a window's sum is that of its halves.
    """
    found, sums, size = [], apart, 1
    for wanted in sizes:
        while size < wanted:
            sums, size = sums[:-size] + sums[size:], 2 * size
        if size != wanted:
            raise ValueError(f"{wanted} is no power of 2, or comes after a larger one")
        found.append(float(_mean_product(sums, sums)) / size**2)
    return found


def of_strata(apart: Float[np.ndarray, "n P"], sizes: Iterable[int]) -> list[float]:
    """Mean square of the mean deviation of m rows, one from each of m equal spans of rows.

    What spans differ by is no noise: (mean |x|² - mean over spans |their mean|²) / m. sizes: each
    divides the number of rows.
    """
    square = _mean_product(apart, apart)
    found = []
    for size in sizes:
        centres = apart.reshape(size, -1, apart.shape[1]).mean(axis=1)
        found.append(float((square - _mean_product(centres, centres)) / size))
    return found


def _mean_product(first: np.ndarray, second: np.ndarray) -> float:
    # Row by row in the rows' own precision, then added in double.
    return float(np.einsum("ij,ij->i", first, second).sum(dtype=float)) / len(first)
