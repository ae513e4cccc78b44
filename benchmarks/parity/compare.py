"""The statistics: interquartile means, their difference, and its interval.

Everything is in shares of the range from random actions to the best that SB3 reaches.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import trim_mean

from benchmarks.parity import results
from benchmarks.parity.tasks import LIBRARIES, Task
from nbyt.stats import Estimate

RESAMPLES = 10_000
BOUND = 0.10
METRICS = ("final return", "area")


@dataclass(frozen=True)
class Comparison:
    """One metric of one task: the IQM of each library, and their difference over the range."""

    metric: str
    nbyt: Estimate
    sb3: Estimate
    difference: Estimate

    @property
    def agrees(self) -> bool:
        """Whether the interval of the difference lies within the bound."""
        return self.difference.low >= -BOUND and self.difference.high <= BOUND


@dataclass(frozen=True)
class Standing:
    """What is known of a task: the seeds both have, the range, the curves, the comparisons."""

    task: Task
    seeds: tuple[int, ...]
    commits: frozenset[str]
    random: float
    best: float
    curves: dict[str, np.ndarray]
    comparisons: tuple[Comparison, ...]

    @property
    def agrees(self) -> bool:
        """Whether every metric agrees."""
        return all(comparison.agrees for comparison in self.comparisons)


def standing(task: Task) -> Standing | None:
    """Where the task stands by the results kept so far, None before both libraries have two seeds.

    Only seeds that both libraries have are used, so that stopping early favours neither.
    """
    runs = {
        library: {r["seed"]: r for r in results.read_all(task, library)} for library in LIBRARIES
    }
    random_returns = results.read_random(task)
    both = sorted(set(runs["nbyt"]) & set(runs["sb3"]))
    if random_returns is None or len(both) < 2:
        return None
    random = float(random_returns.mean())
    chosen = {library: [runs[library][seed] for seed in both] for library in LIBRARIES}
    curves = {name: np.stack([curve(r, random) for r in rows]) for name, rows in chosen.items()}
    final = {
        name: np.array([np.mean(r["final_returns"]) for r in rows]) for name, rows in chosen.items()
    }
    area = {name: rows.mean(axis=1) for name, rows in curves.items()}
    best = float(iqm(curves["sb3"]).max())
    comparisons = tuple(
        compare(metric, scores["nbyt"], scores["sb3"], best - random)
        for metric, scores in zip(METRICS, (final, area), strict=True)
    )
    commits = frozenset(r["versions"]["commit"] for rows in chosen.values() for r in rows)
    return Standing(task, tuple(both), commits, random, best, curves, comparisons)


def curve(run: dict[str, Any], random: float) -> np.ndarray:
    """Mean return of the episodes that ended in each update, the last known where none ended.

    Before the first episode ends, the return of random actions stands in.
    """
    values, last = [], random
    for mean in run["mean_return"]:
        last = last if mean is None else mean
        values.append(last)
    return np.array(values)


def iqm(scores: np.ndarray) -> np.ndarray:
    """Interquartile mean over the first axis: without the lowest and the highest quarter."""
    return trim_mean(scores, 0.25, axis=0)


def compare(metric: str, nbyt: np.ndarray, sb3: np.ndarray, span: float) -> Comparison:
    """The IQMs of both and their difference over `span`, by a percentile bootstrap over seeds.

    The seeds of the two libraries are resampled apart; `span` counts as known.
    """
    generator = np.random.default_rng(0)
    ours, theirs = resampled(nbyt, generator), resampled(sb3, generator)
    return Comparison(
        metric,
        _estimate(float(iqm(nbyt)), ours, len(nbyt)),
        _estimate(float(iqm(sb3)), theirs, len(sb3)),
        _estimate(float(iqm(nbyt) - iqm(sb3)) / span, (ours - theirs) / span, len(nbyt)),
    )


def resampled(scores: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """The IQM of each of `RESAMPLES` resamples of the seeds, [resamples, ...]."""
    picks = generator.integers(0, len(scores), (len(scores), RESAMPLES))
    return iqm(scores[picks])


def _estimate(value: float, samples: np.ndarray, replicates: int) -> Estimate:
    low, high = np.quantile(samples, [0.025, 0.975])
    return Estimate(value, float(low), float(high), replicates)
