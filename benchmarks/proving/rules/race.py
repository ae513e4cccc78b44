"""The race of `nbyt advise`: quarter trainings of a few T with the same seeds for all of them.

The rule is the product's own code. Only the reference tasks differ: they are never the env that is
asked about, nor a sealed one.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from benchmarks.proving.data import Cell
from benchmarks.proving.prior import task_of
from benchmarks.proving.profiles import update_costs
from benchmarks.proving.replay import Choice, Ground, Replay
from nbyt.results.prior import Prior as PriorRecord
from nbyt.stats.prior import Known, Prior, Schedule
from nbyt.stats.race import FRACTION, Judged, best_between, has_gained, judge_race, promised

_task = lru_cache(maxsize=None)(task_of)


class Race:
    """Smooth the promised scores over log2 T; the best T between the first arm and the last."""

    # True: the arms are scored by their trainings' own episodes.
    own = False

    def __init__(self, references: Sequence[Ground]) -> None:
        tasks = tuple(_task(one.cell) for one in references)
        self._prior = Prior(PriorRecord(version="", tasks=tasks), "")
        self._known: dict[tuple[Cell, str], Known] = {}

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by quarter trainings."""
        schedule = self.known(cell).schedule(budget)
        if schedule.seeds == 0:
            return Choice(self.known(cell).constant, 0.0)
        gains = self.race(cell, schedule)
        if not has_gained(gains):
            return Choice(self.known(cell).constant, cell.spent)
        return Choice(cell.steps[self._decide(cell, schedule, gains, key)], cell.spent)

    def known(self, cell: Replay) -> Known:
        """What the reference tasks say under the costs of the cell."""
        own, objective = cell.ground.cell, cell.ground.objective
        if (own, objective) not in self._known:
            costs = update_costs(own, objective)
            self._known[own, objective] = self._prior.under(cell.steps, costs, own.batch)
        return self._known[own, objective]

    def race(self, cell: Replay, schedule: Schedule) -> np.ndarray:
        """Train the arms; return their promised scores above the untrained policy."""
        curves = [
            [cell.train(t, k, FRACTION, own=self.own) for k in range(schedule.seeds)]
            for t in schedule.arms
        ]
        gains: np.ndarray = promised(np.array(curves)) - cell.untrained
        return gains

    def judged(
        self, cell: Replay, schedule: Schedule, gains: np.ndarray, key: np.random.Generator
    ) -> Judged:
        """What the race says, with its losses and probabilities."""
        return judge_race(
            cell.octaves,
            [cell.steps.index(t) for t in schedule.arms],
            gains,
            references=self.known(cell).references,
            trainings=schedule.trainings,
            generator=key,
        )

    def _decide(
        self, cell: Replay, schedule: Schedule, gains: np.ndarray, key: np.random.Generator
    ) -> int:
        places = [cell.steps.index(t) for t in schedule.arms]
        return best_between(cell.octaves, places, gains.mean(1))


class ArgmaxRace(Race):
    """The same race; keep the arm with the best mean."""

    def _decide(
        self, cell: Replay, schedule: Schedule, gains: np.ndarray, key: np.random.Generator
    ) -> int:
        return cell.steps.index(schedule.arms[int(gains.mean(1).argmax())])


class PosteriorRace(Race):
    """The same race; the T with the least expected loss given the reference tasks."""

    def _decide(
        self, cell: Replay, schedule: Schedule, gains: np.ndarray, key: np.random.Generator
    ) -> int:
        found = self.judged(cell, schedule, gains, key)
        expected = [one.value if one.value is not None else np.inf for one in found.losses]
        return found.places[int(np.argmin(expected))]


class OwnReturnsRace(Race):
    """The same race, scored by the episodes that ended during training."""

    own = True


smoothed_race = Race
own_returns_race = OwnReturnsRace
argmax_race = ArgmaxRace
posterior_race = PosteriorRace
