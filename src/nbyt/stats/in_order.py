"""Rows in the order they were collected in: how alike neighbours are, and what means of them do.

All is exact for the rows that are given: nothing is drawn. Rows are vectors, such as gradients, and
deviations are distances from their mean.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float


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
