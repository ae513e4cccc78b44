"""Quarter trainings of few T with the same seeds for all of them."""

from collections.abc import Sequence

import numpy as np

from benchmarks.proving.replay import Choice, Ground, Replay
from benchmarks.proving.rules.searches import smoothed_best

FRACTION = 0.25
# By trainings: the T that are tried and the seeds of each.
SCHEDULES = {
    1: ((4, 32), 2),
    2: ((4, 32), 4),
    4: ((4, 8, 16, 32, 64), 3),
    8: ((4, 8, 16, 32, 64), 6),
}


def promise(curve: np.ndarray, fraction: float = FRACTION) -> float:
    """The score that the beginning of a curve promises: as seen, and the rest as at its end."""
    seen = float(((curve[1:] + curve[:-1]) / 2).mean())
    return fraction * seen + (1 - fraction) * float(curve[-1])


class ArgmaxOfQuarters:
    """Keep the T with the best mean."""

    def __init__(self, references: Sequence[Ground] = ()) -> None:
        pass

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by quarter trainings."""
        arms, means = self._race(cell, budget)
        return Choice(self._decide(cell, arms, means), cell.spent)

    def _race(self, cell: Replay, budget: float) -> tuple[list[int], np.ndarray]:
        wanted, seeds = SCHEDULES[int(budget)]
        arms = [t for t in wanted if t in cell.steps]
        table = [[promise(cell.train(t, k, FRACTION)) for k in range(seeds)] for t in arms]
        return arms, np.array(table).mean(1)

    def _decide(self, cell: Replay, arms: list[int], means: np.ndarray) -> int:
        return arms[int(means.argmax())]


class SmoothedQuarters(ArgmaxOfQuarters):
    """Smooth the means over log2 T; the best T between the first and the last."""

    def _decide(self, cell: Replay, arms: list[int], means: np.ndarray) -> int:
        return smoothed_best(cell, arms, means, 0.1)


argmax_of_quarters = ArgmaxOfQuarters
smoothed_quarters = SmoothedQuarters
