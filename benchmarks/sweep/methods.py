"""Ways to put an interval around an IQM or a probability, to choose between them by coverage."""

import math

import numpy as np
from scipy import stats

from nbyt.stats.runs import improvement, iqm, iqm_estimate, redrawn

Ends = tuple[float, float]
_DRAWS = 1000


def shown(scores: np.ndarray, generator: np.random.Generator) -> Ends:
    """The interval that nbyt shows."""
    found = iqm_estimate(scores, generator)
    return float(found.low or 0.0), float(found.high or 0.0)


def percentile(scores: np.ndarray, generator: np.random.Generator) -> Ends:
    """The plain 2.5 % and 97.5 % points of the draws."""
    drawn = iqm(scores[redrawn(len(scores), generator, _DRAWS)])
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def winsorised(scores: np.ndarray, generator: np.random.Generator) -> Ends:
    """Student's t on the winsorised variance (Tukey and McLaughlin)."""
    centre, error, freedom = *_studied(scores), len(scores) - 2 * (len(scores) // 4) - 1
    half = float(stats.t.ppf(0.975, freedom)) * float(error)
    return float(centre) - half, float(centre) + half


def bootstrap_t(scores: np.ndarray, generator: np.random.Generator) -> Ends:
    """The draws' own t, instead of Student's; nothing where no draw has a spread."""
    centre, error = _studied(scores)
    centres, errors = _studied(scores[redrawn(len(scores), generator, _DRAWS)])
    known = errors > 0
    if not known.any():
        return math.nan, math.nan
    reach = np.quantile(np.abs(centres[known] - centre) / errors[known], 0.95)
    return float(centre - reach * error), float(centre + reach * error)


def probability_shown(
    first: np.ndarray, second: np.ndarray, generator: np.random.Generator
) -> Ends:
    """The interval that nbyt shows."""
    found = improvement(first, second)
    return float(found.low or 0.0), float(found.high or 0.0)


def probability_percentile(
    first: np.ndarray, second: np.ndarray, generator: np.random.Generator
) -> Ends:
    """The 2.5 % and 97.5 % points of draws of seeds within each layout."""
    better = (first[:, None] > second) + 0.5 * (first[:, None] == second)
    weights = [_counts(len(one), generator) for one in (first, second)]
    drawn = np.einsum("di,ij,dj->d", weights[0], better, weights[1], optimize=True)
    low, high = np.quantile(drawn / better.size, [0.025, 0.975])
    return float(low), float(high)


def probability_placements(
    first: np.ndarray, second: np.ndarray, generator: np.random.Generator
) -> Ends:
    """Student's t on the variance of the placements (Brunner and Munzel)."""
    better = (first[:, None] > second) + 0.5 * (first[:, None] == second)
    parts = [better.mean(1).var(ddof=1) / len(first), better.mean(0).var(ddof=1) / len(second)]
    whole, value = sum(parts), float(better.mean())
    if whole == 0:
        return value, value
    under = parts[0] ** 2 / (len(first) - 1) + parts[1] ** 2 / (len(second) - 1)
    half = float(stats.t.ppf(0.975, whole**2 / under)) * math.sqrt(whole)
    return value - half, value + half


IQM = {
    "shown": shown,
    "percentile": percentile,
    "winsorised_t": winsorised,
    "bootstrap_t": bootstrap_t,
}
PROBABILITY = {
    "shown": probability_shown,
    "percentile": probability_percentile,
    "placements_t": probability_placements,
}


def _studied(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """IQMs and their standard errors, from the winsorised variance."""
    count = scores.shape[-1]
    cut = count // 4
    ordered = np.sort(scores, axis=-1)
    inner = np.clip(ordered, ordered[..., [cut]], ordered[..., [count - cut - 1]])
    return iqm(scores), inner.std(axis=-1, ddof=1) / ((1 - 2 * cut / count) * math.sqrt(count))


def _counts(seeds: int, generator: np.random.Generator) -> np.ndarray:
    """How often each draw takes each seed."""
    return (redrawn(seeds, generator, _DRAWS)[:, :, None] == np.arange(seeds)).sum(axis=1)
