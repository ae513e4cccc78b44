"""Layouts compared with each other, at equal samples or at equal seconds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.results.sweep import Standing
from nbyt.results.values import Estimate as EstimateRecord
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.runs import DRAWS, NO_SEED, behind, improvement, interval, iqm, redrawn, regrets
from nbyt.training.costs import Costs, Split


class Pace(NamedTuple):
    """The speed of layouts relative to the fastest: 1, or less.

    seconds: of one update of each. drawn: bootstrap draws of the paces. fastest: its index.
    """

    seconds: tuple[Estimate, ...]
    value: Float[np.ndarray, " layouts"]
    drawn: Float[np.ndarray, "draws layouts"]
    fastest: int


def pace_of(costs: Costs, layouts: Sequence[Split], generator: np.random.Generator) -> Pace:
    """Return the paces of the layouts; what slows all of them alike changes none."""
    rows = costs.redrawn(layouts, DRAWS, generator)
    paces = rows.min(axis=1, keepdims=True) / rows
    return Pace(costs.seconds(layouts), paces[0], paces[1:], int(rows[0].argmin()))


def slowed(
    returns: Float[np.ndarray, "seeds points"],
    points: Sequence[int],
    start: float,
    paces: Float[np.ndarray, " draws"],
) -> Float[np.ndarray, "draws seeds points"]:
    """Return the returns at the moments at which the fastest layout is at each point.

    Between two points a curve is a straight line; before its first it comes from `start`.
    """
    seeds = len(returns)
    known = np.hstack([np.full((seeds, 1), start), returns])
    at = np.array([0, *points], float)
    reached = paces[:, None] * at[1:]
    right = np.clip(np.searchsorted(at, reached, side="left"), 1, len(at) - 1)
    share = (reached - at[right - 1]) / (at[right] - at[right - 1])
    between = known[:, right - 1] * (1 - share) + known[:, right] * share
    return np.moveaxis(between, 0, 1)


# Layouts may have different numbers of seeds, so that number has no name.
Scores = Float[np.ndarray, " _"]
Returns = Float[np.ndarray, "_ points"]
Varied = Float[np.ndarray, "draws _ points"]


class LayoutScores(NamedTuple):
    """IQMs of one layout: of the return at every point, of its mean over them, of the last.

    drawn: of the mean, in every draw of seeds.
    """

    curve: tuple[Estimate, ...]
    over_training: Estimate
    final: Estimate
    drawn: Float[np.ndarray, " draws"]


@dataclass(frozen=True)
class LayoutComparison:
    """What the finished seeds of every layout reached at the points of the curves.

    varied: the returns of one layout in each draw, where it is uncertain when a point was reached.
    """

    layouts: tuple[Split, ...]
    seeds: tuple[tuple[int, ...], ...]
    returns: tuple[Returns, ...]
    generator: np.random.Generator
    varied: Callable[[int], Varied] | None = None

    @cached_property
    def scores(self) -> list[Scores]:
        """Return the mean return over training, of every seed of every layout."""
        return [returns.mean(axis=1) for returns in self.returns]

    @cached_property
    def best(self) -> int | None:
        """Return the index of the layout with the highest IQM; None where no seed is finished."""
        iqms = [float(iqm(scores)) if len(scores) else -np.inf for scores in self.scores]
        return int(np.argmax(iqms)) if max(iqms) > -np.inf else None

    @cached_property
    def layout_scores(self) -> list[LayoutScores]:
        """Return what each layout reaches."""
        return [self._layout_scores(place) for place in range(len(self.layouts))]

    def _layout_scores(self, place: int) -> LayoutScores:
        returns, seeds = self.returns[place], len(self.seeds[place])
        columns = np.hstack([returns, returns.mean(axis=1, keepdims=True)])
        if not seeds:
            none = undetermined(NO_SEED, 0)
            return LayoutScores((none,) * returns.shape[1], none, none, np.zeros(0))
        drawn = iqm(self._columns(place, redrawn(seeds, self.generator)), axis=1)
        values = iqm(columns, axis=0)
        estimates = [
            interval(float(value), draws, seeds)
            for value, draws in zip(values, drawn.T, strict=True)
        ]
        return LayoutScores(tuple(estimates[:-1]), estimates[-1], estimates[-2], drawn[:, -1])

    def _columns(self, place: int, places: np.ndarray) -> Float[np.ndarray, "draws seeds columns"]:
        if self.varied is None:
            drawn = self.returns[place][places]
        else:
            drawn = np.take_along_axis(self.varied(place), places[:, :, None], axis=1)
        return np.concatenate([drawn, drawn.mean(axis=2, keepdims=True)], axis=2)

    @cached_property
    def regrets(self) -> dict[int, Estimate]:
        """Return what each layout with a seed loses against the best, in halves of the seeds."""
        some = [place for place, seeds in enumerate(self.seeds) if seeds]
        if self.varied is None:
            rows = [self.scores[place] for place in some]
        else:
            rows = [self.varied(place).mean(axis=2) for place in some]
        return dict(zip(some, regrets(rows, self.generator), strict=True))

    @cached_property
    def behind(self) -> list[Estimate | None]:
        """Return how far each layout is below the best one; None for that one itself."""
        return [self._behind(place) for place in range(len(self.layouts))]

    def _behind(self, place: int) -> Estimate | None:
        if self.best is None or place == self.best:
            return None
        best, other = self.layout_scores[self.best], self.layout_scores[place]
        drawn = best.drawn - other.drawn if len(other.drawn) else other.drawn
        return behind(self.scores[self.best], self.scores[place], drawn)

    def standing(self, place: int) -> Standing:
        """Return a layout's scores, compared with the best."""
        scores, behind_best = self.layout_scores[place], self.behind[place]
        return Standing(
            scores=tuple(map(float, self.scores[place])),
            curve=tuple(map(record, scores.curve)),
            over_training=record(scores.over_training),
            final=record(scores.final),
            behind=None if behind_best is None else record(behind_best),
            tied_with_best=self.tied(place),
            best_wins=self.wins(self.best, place),
        )

    def wins(self, first: int | None, second: int) -> EstimateRecord | None:
        """Return the probability that a training of one layout beats one of another."""
        if first is None or first == second:
            return None
        return record(improvement(self.scores[first], self.scores[second]))

    def tied(self, place: int) -> bool | None:
        """Return True if a layout ties with the best; None if there are too few seeds to say."""
        if place == self.best:
            return True
        behind_best = self.behind[place]
        if behind_best is None or behind_best.low is None:
            return None
        return behind_best.low <= 0


def record(estimate: Estimate) -> EstimateRecord:
    """Return an estimate as sweep.json holds it."""
    facts: dict[str, Any] = estimate.as_dict()
    return EstimateRecord(**facts)
