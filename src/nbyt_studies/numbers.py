"""Numbers of a study: sampling formulas, statistics of rows, and ratios over independent runs."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy import special, stats

from nbyt.stats.estimate import LEVEL, Estimate, added, mapped, mean, undetermined
from nbyt.stats.intervals import leave_one_out, positive_ratio, ratio_set, within
from nbyt.stats.variance import NO_VARIANCE
from nbyt_studies.verdict import Number

# A mini-batch's gradient is the mean of m of the batch's n contributions. Given the batch it varies
# around the batch's gradient G_B; these formulas are exact, whatever the contributions are.

Real = float | int  # tests check annotations as code runs, where an int is not a float
Values = Sequence[Real] | np.ndarray
Numbers = float | Float[np.ndarray, "..."]


def without_replacement(spread: Numbers, samples: int, minibatch: int) -> Numbers:
    """Return E|G_mb - G_B|² of m different samples of the batch: (1 - m/n) S²/m."""
    return (1 - minibatch / samples) * spread / minibatch


def with_replacement(spread: Numbers, samples: int, minibatch: int) -> Numbers:
    """Return E|G_mb - G_B|² of m samples fetched one by one from all: (n-1)/n S²/m."""
    return (samples - 1) / samples * spread / minibatch


def disjoint_covariance(variance: Numbers, spread: Numbers, samples: int) -> Numbers:
    """Return Cov(G_mb, G_mb') of two mini-batches of one epoch: Var(G_B) - S²/n at any size.

    With the batch's own scatter taken out, each draws away what the other gets: -S²/n.
    """
    return variance - spread / samples


def never_fetched(samples: int, minibatch: int, fetches: int, *, replace: bool = True) -> float:
    """Return the expected share of samples in none of so many random mini-batches.

    (1 - 1/n)^(m k) one by one; (1 - m/n)^k where a mini-batch holds no sample twice.
    """
    if replace:
        return float((1 - 1 / samples) ** (minibatch * fetches))
    return float((1 - minibatch / samples) ** fetches)


def variance_ratio(
    gram: Float[np.ndarray, "k k"], extra: Float[np.ndarray, " k"], other: Float[np.ndarray, " k"]
) -> Estimate:
    """Estimate (Var(G_B) + E extra) / (Var(G_B) + E other) from k independent batches.

    gram: inner products of the batches' gradients G_B. extra, other: the mean |G_mb - G_B|² of two
    ways to cut each batch, each of which uses all of its samples alike; 0 for the batch as a whole.
    """
    batches = len(gram)
    samples = leave_one_out(batches)
    whole = samples.mean(np.diagonal(gram)[None]) - samples.mean_of_pairs(gram[None])
    above, below = (whole + samples.mean(x[None]) for x in (extra, other))
    if above[0] <= 0 or below[0] <= 0:
        return undetermined(NO_VARIANCE, batches)
    return positive_ratio(above / below, batches)


# Rows are vectors, such as gradients, in the order they were collected in. All numbers are exact
# for the rows that are given; deviations are distances from their mean.


def expected_distinct(labels: Int[np.ndarray, " n"], minibatch: int, *, replace: bool) -> float:
    """Return the expected number of different labels among m rows fetched at random.

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
    """Return the mean number of different labels among m rows in a row, over every window of m.

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
    """Return the mean number of different labels in mini-batches that were drawn."""
    return float(np.mean([len(np.unique(labels[one])) for one in places]))


def _falling(rest: np.ndarray, minibatch: int, total: int) -> np.ndarray:
    logs = special.gammaln
    kept = np.maximum(rest, minibatch)
    ratio = logs(kept + 1) - logs(kept - minibatch + 1)
    return np.exp(ratio - (logs(total + 1) - logs(total - minibatch + 1)))


def deviations(rows: Float[np.ndarray, "n P"]) -> Float[np.ndarray, "n P"]:
    """Return the rows less their mean."""
    return rows - rows.mean(axis=0, dtype=float).astype(rows.dtype)


def lag_correlations(apart: Float[np.ndarray, "n P"], lags: Iterable[int]) -> list[float]:
    """Return the mean product of deviations `lag` rows apart over their mean square; nan if all 0.

    Two different rows fetched at random have -1 / (n-1).
    """
    square = _mean_product(apart, apart)
    with np.errstate(invalid="ignore", divide="ignore"):
        return [float(_mean_product(apart[:-lag], apart[lag:]) / square) for lag in lags]


def mean_cosine(first: Float[np.ndarray, "n P"], second: Float[np.ndarray, "n P"]) -> float:
    """Return the mean cosine of pairs of rows; pairs with a row of 0 are left out."""
    lengths = [np.sqrt(np.einsum("ij,ij->i", x, x, dtype=float)) for x in (first, second)]
    scale = lengths[0] * lengths[1]
    fine = scale > 0
    products = np.einsum("ij,ij->i", first, second, dtype=float)
    return float((products[fine] / scale[fine]).mean()) if fine.any() else float("nan")


def of_windows(apart: Float[np.ndarray, "n P"], sizes: Sequence[int]) -> list[float]:
    """Return mean square of the mean deviation of m rows in a row, over every window of m.

    sizes: rising powers of 2, because a window's sum is that of its halves.
    """
    squares, sums, size = [], apart, 1
    for wanted in sizes:
        while size < wanted:
            sums, size = sums[:-size] + sums[size:], 2 * size
        if size != wanted:
            raise ValueError(f"{wanted} is no power of 2, or comes after a larger one")
        squares.append(float(_mean_product(sums, sums)) / size**2)
    return squares


def of_strata(apart: Float[np.ndarray, "n P"], sizes: Iterable[int]) -> list[float]:
    """Return mean square of the mean deviation of m rows, one from each of m equal spans of rows.

    What spans differ by is no noise: (mean |x|² - mean over spans |their mean|²) / m. sizes: each
    divides the number of rows.
    """
    square = _mean_product(apart, apart)
    squares = []
    for size in sizes:
        centres = apart.reshape(size, -1, apart.shape[1]).mean(axis=1)
        squares.append(float((square - _mean_product(centres, centres)) / size))
    return squares


def _mean_product(first: np.ndarray, second: np.ndarray) -> float:
    # Row by row in the rows' own precision, then added in double.
    return float(np.einsum("ij,ij->i", first, second).sum(dtype=float)) / len(first)


def share(hits: int, count: int) -> Estimate:
    """Estimate a share from counts, with Clopper and Pearson's interval."""
    ends = stats.binomtest(hits, count).proportion_ci(LEVEL, method="exact")
    return Estimate(hits / count, float(ends.low), float(ends.high), count, approximate=True)


def share_difference(first: Estimate, second: Estimate) -> Estimate:
    """Estimate the first share less the second; the interval is conservative."""
    return added(first, mapped(second, lambda value: -value), 0.0)


_LEAST = 3


def exact_number(value: Real | None) -> Number:
    """Return a calculated number: its interval is itself."""
    number = None if value is None else float(value)
    return {"value": number, "low": number, "high": number}


def distance(number: Number, point: float) -> Number:
    """Return how far a number is from a point, on either side."""
    value, low, high = (number.get(name) for name in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return number
    ends = sorted((abs(low - point), abs(high - point)))
    nearest = 0.0 if low <= point <= high else ends[0]
    return {**number, "value": abs(value - point), "low": nearest, "high": ends[1]}


def shortened(values: Iterable[Real | None], digits: int = 4) -> list[float | None]:
    """Round to so many significant digits; None where a value is not finite."""
    return [
        float(f"{float(v):.{digits}g}") if v is not None and math.isfinite(v) else None
        for v in values
    ]


def mean_of(values: Iterable[Real]) -> Estimate:
    """Estimate the mean of independent values, with Student's t interval."""
    return mean(np.array(list(values), float))


def over_trainings(values: Iterable[Real | None]) -> Number:
    """Return the mean over trainings with its interval; those without a number are left out."""
    known = [value for value in values if value is not None]
    if len(known) < _LEAST:
        return undetermined(f"{len(known)} trainings have such a number", len(known)).as_dict()
    return mean_of(known).as_dict()


def typical_over_trainings(over: Values, under: Values) -> Number:
    """Return the geometric mean of each training's ratio, with its interval over trainings."""
    return typical_ratio(over, under).as_dict()


def typical_ratio(over: Values, under: Values) -> Estimate:
    """Estimate the geometric mean of the ratios of independent pairs of positive numbers."""
    if min(*over, *under) <= 0:
        return undetermined("one of the numbers is not above 0", len(over))
    return mapped(mean(np.log(np.asarray(over, float) / np.asarray(under, float))), math.exp)


def ratio_of_means(over: Values, under: Values) -> Estimate:
    """Estimate the ratio of two means from independent pairs of any sign (Fieller)."""
    count = len(over)
    if count < _LEAST:
        return undetermined(f"{count} pairs are too few for a ratio of means", count)
    samples = leave_one_out(count)
    top, bottom = (samples.mean(np.asarray(x, float)[None]) for x in (over, under))
    bounds = within(ratio_set(top, bottom, count), -math.inf, math.inf)
    if bottom[0] == 0 or bounds is None:
        return undetermined("the mean below is 0", count)
    return Estimate(float(top[0] / bottom[0]), *bounds, count, approximate=True)


def spread_of(values: Values) -> Estimate:
    """Estimate a standard deviation; the interval holds for normal values (chi-square)."""
    count = len(values)
    if count < 2:
        return undetermined("one value alone has no spread", count)
    spread = float(np.std(values, ddof=1))
    ends = [stats.chi2.ppf(0.5 + sign * LEVEL / 2, count - 1) for sign in (1, -1)]
    low, high = (spread * math.sqrt((count - 1) / end) for end in ends)
    return Estimate(spread, low, high, count, approximate=True)


def spread_ratio(over: Values, under: Values) -> Estimate:
    """Estimate the ratio of two standard deviations; the interval holds for normal values (F)."""
    sizes = len(over), len(under)
    if min(sizes) < 2 or np.std(under) == 0:
        return undetermined("one of the samples has no spread", min(sizes))
    ratio = float(np.std(over, ddof=1) / np.std(under, ddof=1))
    ends = [stats.f.ppf(0.5 + sign * LEVEL / 2, sizes[0] - 1, sizes[1] - 1) for sign in (1, -1)]
    low, high = (ratio / math.sqrt(end) for end in ends)
    return Estimate(ratio, low, high, min(sizes), approximate=True)
