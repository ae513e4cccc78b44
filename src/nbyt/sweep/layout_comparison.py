"""Layouts held against each other, at equal samples or at equal seconds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.advice.costs import Costs, Split
from nbyt.results.values import Data
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.runs import DRAWS, NO_SEED, behind, improvement, interval, iqm, redrawn, regrets


class Pace(NamedTuple):
    """How fast layouts are beside the fastest: 1, or less.

    seconds: of one update of each. drawn: the paces as they may be. fastest: its place.
    """

    seconds: tuple[Estimate, ...]
    value: Float[np.ndarray, " layouts"]
    drawn: Float[np.ndarray, "draws layouts"]
    fastest: int


def pace_of(costs: Costs, layouts: Sequence[Split], generator: np.random.Generator) -> Pace:
    """The paces of the layouts; what slows all of them alike changes none."""
    rows = costs.redrawn(layouts, DRAWS, generator)
    paces = rows.min(axis=1, keepdims=True) / rows
    return Pace(costs.seconds(layouts), paces[0], paces[1:], int(rows[0].argmin()))


def slowed(
    returns: Float[np.ndarray, "seeds points"],
    points: Sequence[int],
    start: float,
    paces: Float[np.ndarray, " draws"],
) -> Float[np.ndarray, "draws seeds points"]:
    """The returns at the moments at which the fastest layout is at each point.

    Between two points a curve is a straight line; before its first it comes from `start`.
    """
    seeds = len(returns)
    known = np.hstack([np.full((seeds, 1), start), returns])
    at = np.array([0, *points], float)
    reached = paces[:, None] * at[1:]
    right = np.clip(np.searchsorted(at, reached, side="left"), 1, len(at) - 1)
    share = (reached - at[right - 1]) / (at[right] - at[right - 1])
    found = known[:, right - 1] * (1 - share) + known[:, right] * share
    return np.moveaxis(found, 0, 1)


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

    varied: the same of one layout as each draw has it, where it is not certain when a point was
    reached.
    """

    layouts: tuple[Split, ...]
    seeds: tuple[tuple[int, ...], ...]
    returns: tuple[Returns, ...]
    generator: np.random.Generator
    varied: Callable[[int], Varied] | None = None

    @cached_property
    def scores(self) -> list[Scores]:
        """The mean return over training, of every seed of every layout."""
        return [one.mean(axis=1) for one in self.returns]

    @cached_property
    def best(self) -> int | None:
        """The layout with the highest IQM; None where nothing is finished."""
        heights = [float(iqm(one)) if len(one) else -np.inf for one in self.scores]
        return int(np.argmax(heights)) if max(heights) > -np.inf else None

    @cached_property
    def heights(self) -> list[LayoutScores]:
        """What each layout reaches."""
        return [self._heights(place) for place in range(len(self.layouts))]

    def _heights(self, place: int) -> LayoutScores:
        returns, seeds = self.returns[place], len(self.seeds[place])
        columns = np.hstack([returns, returns.mean(axis=1, keepdims=True)])
        if not seeds:
            none = undetermined(NO_SEED, 0)
            return LayoutScores((none,) * returns.shape[1], none, none, np.zeros(0))
        drawn = iqm(self._columns(place, redrawn(seeds, self.generator)), axis=1)
        values = iqm(columns, axis=0)
        found = [
            interval(float(value), own, seeds) for value, own in zip(values, drawn.T, strict=True)
        ]
        return LayoutScores(tuple(found[:-1]), found[-1], found[-2], drawn[:, -1])

    def _columns(self, place: int, places: np.ndarray) -> Float[np.ndarray, "draws seeds columns"]:
        if self.varied is None:
            drawn = self.returns[place][places]
        else:
            drawn = np.take_along_axis(self.varied(place), places[:, :, None], axis=1)
        return np.concatenate([drawn, drawn.mean(axis=2, keepdims=True)], axis=2)

    @cached_property
    def regrets(self) -> dict[int, Estimate]:
        """What each layout that has a seed loses against the best one, in halves of the seeds."""
        some = [place for place, own in enumerate(self.seeds) if own]
        if self.varied is None:
            rows = [self.scores[place] for place in some]
        else:
            rows = [self.varied(place).mean(axis=2) for place in some]
        return dict(zip(some, regrets(rows, self.generator), strict=True))

    @cached_property
    def behind(self) -> list[Estimate | None]:
        """How far each layout is below the one that looks best; None for that one itself."""
        return [self._behind(place) for place in range(len(self.layouts))]

    def _behind(self, place: int) -> Estimate | None:
        if self.best is None or place == self.best:
            return None
        best, other = self.heights[self.best], self.heights[place]
        drawn = best.drawn - other.drawn if len(other.drawn) else other.drawn
        return behind(self.scores[self.best], self.scores[place], drawn)

    def standing(self, place: int) -> Data:
        """A layout's score, and how it stands beside the best."""
        own, apart = self.heights[place], self.behind[place]
        return {
            "scores": [float(one) for one in self.scores[place]],
            "curve": [one.as_dict() for one in own.curve],
            "over_training": own.over_training.as_dict(),
            "final": own.final.as_dict(),
            "behind": None if apart is None else apart.as_dict(),
            "tied_with_best": self.tied(place),
            "best_wins": self.wins(self.best, place),
        }

    def wins(self, first: int | None, second: int) -> Data | None:
        """The probability that a training of one layout beats one of another."""
        if first is None or first == second:
            return None
        return improvement(self.scores[first], self.scores[second]).as_dict()

    def tied(self, place: int) -> bool | None:
        """Whether it cannot be told apart from the best; None where nobody can say."""
        if place == self.best:
            return True
        apart = self.behind[place]
        return None if apart is None or apart.low is None else apart.low <= 0
