"""The race under a prior from other tasks."""

from collections.abc import Sequence

import numpy as np

from benchmarks.proving.replay import Choice, Ground, Replay
from benchmarks.proving.rules.constant import constant
from benchmarks.proving.rules.prior import LEAST_NOISE, Reference, expected_losses, landscapes_given
from benchmarks.proving.rules.quarters import FRACTION, promise

SCHEDULES = {1: ((4, 32), 2), 2: ((2, 8, 32), 2), 4: ((2, 8, 32), 5), 8: ((2, 8, 32), 10)}


def reference_of(ground: Ground) -> Reference:
    """A cell as a reference: its landscape as shares of the best, and the noise of a quarter."""
    untrained = ground.cell.untrained
    best = float(ground.landscape.mean.max()) - untrained
    last = round(ground.curves.shape[2] * FRACTION)
    promised = np.apply_along_axis(promise, 2, ground.curves[:, :, : last + 1]) / best
    sd = promised.std(1, ddof=1)
    logs = np.pad(np.log(np.maximum(sd, LEAST_NOISE)), 1, mode="edge")
    smoothed = np.convolve(logs, np.ones(3) / 3, "valid")
    return Reference(
        ground.octaves,
        (ground.landscape.mean - untrained) / best,
        ground.landscape.covariance / best**2,
        np.exp(smoothed),
    )


class Posterior:
    """Quarter trainings, and the T with the least expected loss in the tried range."""

    def __init__(self, references: Sequence[Ground]) -> None:
        self._references = [reference_of(one) for one in references]
        self._constant = constant(references)

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by quarter trainings and what is known of other tasks."""
        wanted, seeds = SCHEDULES[int(budget)]
        arms = [t for t in wanted if t in cell.steps]
        table = [[promise(cell.train(t, k, FRACTION)) for k in range(seeds)] for t in arms]
        gains = np.array(table) - cell.untrained
        places = [cell.steps.index(t) for t in arms]
        drawn = landscapes_given(self._references, cell.octaves, places, gains, key)
        expected = expected_losses(drawn).mean(0)
        allowed = np.zeros(len(cell.steps), bool)
        allowed[min(places) : max(places) + 1] = True
        allowed[cell.steps.index(self._constant.choose(cell, 0, key).steps)] = True
        return Choice(cell.steps[int(np.where(allowed, expected, np.inf).argmin())], cell.spent)


posterior = Posterior
