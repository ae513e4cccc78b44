"""Decide a race: quarter trainings of a few T with the same seeds, smoothed over log2 T.

The decision is the highest smoothed score between the shortest and the longest T that were tried.
How much it may lose comes from landscapes drawn given reference tasks (`references.py`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import LEVEL, Estimate
from nbyt.stats.landscape import matern
from nbyt.stats.references import Reference, drawn_losses, landscapes_given, with_evidence

# The part of a training that a race trains.
FRACTION = 0.25
# A layout is as good as the best if it loses at most this much.
CLOSE = 0.05
# Below so many trainings, P(within 5 %) was no better than the base rate on the proving ground.
CALIBRATED_FROM = 4
# What is drawn to be within 5 % so often is so oftener, because drawn landscapes are rougher than
# true ones: the share to this power is the probability. Fitted on the development tasks of the
# proving ground, and judged there with each task left out of the fit.
TRUER = 0.41
SAFE = 0.9
# A race ends early when its choice loses at most so much with at least this probability.
_NEAR, _SURE = 0.03, 0.8
# An arm of the user's own may leave half a training of the budget unused.
_UNUSED = 0.5
# Of the smoothing: length in octaves, height and noise of a mean in units of the best gain. The
# loss hardly depends on them (proving ground).
LENGTH, HEIGHT, NOISE = 2.0, 0.3, 0.1
_LEARNT = 2.0
# Of the seeds, for an interval.
_DRAWS = 1000

Column = Float[np.ndarray, " steps"]


class Judged(NamedTuple):
    """What a race says.

    learnt: False if no T is clearly better than the untrained policy; then nothing is ranked.
    places: the candidates, as indices of T: all from the shortest to the longest that was tried.
    losses: the expected loss of each candidate. best: the index of the T to use, the highest of the
    smoothed scores; with few trainings it need not be the one with the least expected loss. within:
    the probability that it loses at most 5 %, None where that is not calibrated. safe: the indices
    of all T that lose at most 5 % with a probability of at least .9. close: the probability of each
    candidate that it loses at most 5 %. sure: True if more trainings are not worth their price.
    """

    learnt: bool
    places: tuple[int, ...]
    losses: tuple[Estimate, ...]
    best: int
    within: float | None
    safe: tuple[int, ...]
    close: tuple[float, ...]
    sure: bool


def over_budget(
    curves: Float[np.ndarray, "seeds points"],
    samples: Float[np.ndarray, " points"],
    cost: float,
    budget: float,
    moments: int,
) -> Float[np.ndarray, "seeds moments"]:
    """Return the curves at even moments of a budget, from before training to its end.

    samples: seen at every point, 0 at the first. cost: of one sample. A curve that ends before the
    budget is used up keeps its last return.
    """
    seen = np.linspace(0, budget / cost, moments)
    return np.array([np.interp(seen, samples, row) for row in curves])


def promised(
    curves: Float[np.ndarray, "... moments"], fraction: float = FRACTION
) -> Float[np.ndarray, "..."]:
    """Return the score that the first part of a training promises.

    The score of a training is its mean return. What is not trained yet counts as the last return.
    """
    seen = ((curves[..., 1:] + curves[..., :-1]) / 2).mean(-1)
    # Of one curve NumPy would make a scalar, which is no array.
    return np.asarray(fraction * seen + (1 - fraction) * curves[..., -1])


def smoothed(
    octaves: Column, tried: Sequence[int], gains: Float[np.ndarray, " arms"], noise: float = NOISE
) -> Column:
    """Return the gains of all T as shares of the best tried one, smoothed over log2 T."""
    places = np.array(tried, int)
    scale = max(float(gains.max()), 1e-12)
    prior = HEIGHT**2 * matern(octaves, octaves, LENGTH) + 1.0
    inner = prior[np.ix_(places, places)] + noise**2 * np.eye(len(places))
    curve: np.ndarray = prior[:, places] @ np.linalg.solve(inner, gains / scale)
    return curve


def best_between(
    octaves: Column, tried: Sequence[int], gains: Float[np.ndarray, " arms"], noise: float = NOISE
) -> int:
    """Return the index of the T with the highest smoothed gain inside the tried range."""
    inside = slice(min(tried), max(tried) + 1)
    return min(tried) + int(smoothed(octaves, tried, gains, noise)[inside].argmax())


def losses_given(
    octaves: Column,
    tried: Sequence[int],
    gains: Float[np.ndarray, "arms seeds"],
    references: Sequence[Reference],
    generator: np.random.Generator,
) -> Float[np.ndarray, "draws steps"]:
    """Draw what each T may lose, given a race and the reference tasks."""
    return drawn_losses(landscapes_given(references, octaves, tried, gains, generator))


def within_given(lost: Float[np.ndarray, "draws steps"], most: float = CLOSE) -> Column:
    """Return the probability that each T loses at most so much, given draws of what it loses."""
    share: np.ndarray = (lost <= most).mean(0) ** TRUER
    return share


def has_gained(gains: Float[np.ndarray, "arms seeds"]) -> bool:
    """Return True if an arm got beyond the untrained policy, however little.

    On the proving ground the best arm so far loses less than the usual T even where it is not
    clearly better than the untrained policy. Where no arm gained anything it says nothing.
    """
    return any(np.nanmean(arm) > 0 for arm in gains if np.isfinite(arm).any())


def is_calibrated(trainings: float) -> bool:
    """Return True if a race of so many trainings states probabilities that come true."""
    return trainings >= CALIBRATED_FROM - _UNUSED


def judge_race(
    octaves: Column,
    tried: Sequence[int],
    gains: Float[np.ndarray, "arms seeds"],
    *,
    references: Sequence[Reference],
    trainings: float,
    generator: np.random.Generator,
) -> Judged:
    """Choose a T by a race, and say how much each T may lose.

    octaves: log2 of every T, ascending. tried: the places of the arms, ascending. gains: promised
    scores above the untrained policy, of the same seeds in every arm; NaN where an arm lacks a
    seed. An arm without any seed counts as not tried. trainings: what was spent.
    """
    arms, gains = with_evidence(tried, gains)
    tried = [int(place) for place in arms]
    places = tuple(range(min(tried), max(tried) + 1))
    best = best_between(octaves, tried, np.nanmean(gains, axis=1))
    lost = losses_given(octaves, tried, gains, references, generator)
    close = within_given(lost)
    calibrated = is_calibrated(trainings)
    return Judged(
        learnt=_learnt(gains),
        places=places,
        losses=tuple(_estimate(lost[:, place]) for place in places),
        best=best,
        within=float(close[best]) if calibrated else None,
        safe=tuple(place for place in places if close[place] >= SAFE),
        close=tuple(float(close[place]) for place in places),
        sure=calibrated and bool(within_given(lost, _NEAR)[best] >= _SURE),
    )


def _learnt(gains: Float[np.ndarray, "arms seeds"]) -> bool:
    """Return True if the best arm's gain is at least two standard errors.

    The spread of single trainings is pooled over the arms; if no arm has two seeds it is that of
    the arms.
    """
    means = np.nanmean(gains, axis=1)
    counts = np.isfinite(gains).sum(1)
    best = int(means.argmax())
    freedom = int((counts - 1).sum())
    if freedom:
        variance = np.nansum((gains - means[:, None]) ** 2) / freedom
        error = float(np.sqrt(variance / counts[best]))
    else:
        error = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    return bool(means[best] > _LEARNT * error)


def _estimate(lost: Float[np.ndarray, " draws"]) -> Estimate:
    low, high = np.quantile(lost, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    mean = float(lost.mean())
    return Estimate(mean, min(float(low), mean), max(float(high), mean), len(lost))


def times_as_long(
    slow: Float[np.ndarray, "seeds moments"],
    fast: Float[np.ndarray, "seeds moments"],
    generator: np.random.Generator,
) -> Estimate | None:
    """Estimate how many times as long one arm takes to reach what the other reaches.

    slow, fast: learning curves over the same moments of a budget. The interval comes from redrawn
    seeds. None where an arm has one seed, or where the interval does not say that it is longer.
    """
    if min(len(slow), len(fast)) < 2:
        return None
    drawn = [
        _ratio_of_times(_redrawn(slow, generator), _redrawn(fast, generator)) for _ in range(_DRAWS)
    ]
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    value = _ratio_of_times(slow.mean(0), fast.mean(0))
    if low <= 1 or not low <= value <= high:
        return None
    return Estimate(value, float(low), float(high), min(len(slow), len(fast)), approximate=True)


def _redrawn(
    curves: Float[np.ndarray, "seeds moments"], generator: np.random.Generator
) -> Float[np.ndarray, " moments"]:
    mean: np.ndarray = curves[generator.integers(len(curves), size=len(curves))].mean(0)
    return mean


def _ratio_of_times(
    slow: Float[np.ndarray, " moments"], fast: Float[np.ndarray, " moments"]
) -> float:
    """Return the time of the slow curve over that in which the fast one gets where it ends."""
    reached = np.flatnonzero(fast >= slow[-1])
    if not len(reached):
        return 1.0
    k = int(reached[0])
    if k == 0:
        return float(len(fast) - 1)
    part = (slow[-1] - fast[k - 1]) / (fast[k] - fast[k - 1])
    return float((len(fast) - 1) / max(k - 1 + part, 1.0))
