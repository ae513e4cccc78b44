"""A cell as a way of choosing sees it: trainings that were recorded, each paid for.

Seeds are dealt out anew for every replay: some for the rule, the others for the judge.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from benchmarks.proving.data import Cell
from benchmarks.proving.profiles import GRID, over_budget, scores
from nbyt.errors import UsageError
from nbyt.rng import numpy_stream
from nbyt.stats.landscape import Landscape, losses, noise_of_means, smooth

# At most so many seeds are the rule's; the judge has the others.
_RULE_SEEDS = 16
_RULE_SHARE = 0.625
_DRAWS = 1000


class Choice(NamedTuple):
    """The T that a rule has chosen, and what that cost in trainings."""

    steps: int
    cost: float


@dataclass(frozen=True, eq=False)
class Ground:
    """A cell under an objective: its curves over the budget, [layouts, seeds, moments]."""

    cell: Cell
    objective: str

    @property
    def steps(self) -> tuple[int, ...]:
        """Every T of the cell."""
        return self.cell.steps

    @cached_property
    def octaves(self) -> np.ndarray:
        """The logarithms of T to base 2."""
        return np.log2(np.array(self.steps, float))

    @cached_property
    def curves(self) -> np.ndarray:
        """The evaluated returns over the budget."""
        return over_budget(self.cell, self.objective, self.cell.returns)

    @cached_property
    def own_curves(self) -> np.ndarray:
        """The returns of the trainings' own episodes over the budget.

        Until the first episode has ended, the return is that of the untrained policy; a point
        before which none ended repeats the last one.
        """
        cell = self.cell
        curves = np.full(cell.returns.shape, np.nan)
        curves[:, :, 0] = cell.untrained
        for point in range(cell.training.shape[2]):
            ended = cell.training[:, :, point]
            curves[:, :, point + 1] = np.where(np.isnan(ended), curves[:, :, point], ended)
        return over_budget(cell, self.objective, curves)

    @cached_property
    def scores(self) -> np.ndarray:
        """The mean return over the budget, [layouts, seeds]."""
        return scores(self.curves)

    @cached_property
    def landscape(self) -> Landscape:
        """What all seeds say about the layouts' scores."""
        return self.landscape_by(range(len(self.cell.seeds)))

    @cached_property
    def losses(self) -> np.ndarray:
        """The loss of every layout, by the posterior mean of all seeds."""
        return losses(self.landscape.mean, self.cell.untrained)

    def landscape_by(self, seeds: Sequence[int]) -> Landscape:
        """What some seeds say about the layouts' scores."""
        own = self.scores[:, list(seeds)]
        return smooth(self.octaves, own.mean(1), noise_of_means(own))

    def losses_drawn(self, seeds: Sequence[int]) -> np.ndarray:
        """Losses drawn from what some seeds say, [draws, layouts]."""
        key = numpy_stream(0, f"losses {self.cell.name} {self.objective}")
        return losses(self.landscape_by(seeds).draws(_DRAWS, key), self.cell.untrained)

    def standard_error(self, seeds: Sequence[int]) -> float:
        """The standard error of a layout's loss by some seeds, in the mean over layouts."""
        return float(self.losses_drawn(seeds).std(0).mean())

    @cached_property
    def span(self) -> float:
        """The way from the untrained policy to the best layout, by all seeds."""
        return float(self.landscape.mean.max()) - self.cell.untrained

    def judged_by(self, seeds: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The losses by the posterior mean of some seeds, and by their plain means.

        They are shares of the span, which is the same for all deals: with few seeds of a task that
        is hardly learnt, the gain of the best can be anything.
        """
        seen = (self.landscape_by(seeds).mean, self.scores[:, list(seeds)].mean(1))
        smoothed, naive = ((one.max() - one) / self.span for one in seen)
        return smoothed, naive


@dataclass
class Replay:
    """A cell in the hands of a rule; `train` is all that it can do."""

    ground: Ground
    seeds: tuple[int, ...]
    rule: str = "a rule"
    _paid: dict[tuple[int, int], float] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[int, ...]:
        """Every T that may be chosen."""
        return self.ground.steps

    @property
    def octaves(self) -> np.ndarray:
        """The logarithms of T to base 2."""
        return self.ground.octaves

    @property
    def untrained(self) -> float:
        """The mean return before training."""
        return float(self.ground.curves[:, list(self.seeds), 0].mean())

    @property
    def spent(self) -> float:
        """What was trained so far, in trainings; going on with one costs only what is new."""
        return sum(self._paid.values())

    def train(
        self, steps: int, seed: int, fraction: float = 1.0, *, own: bool = False
    ) -> np.ndarray:
        """The curve of a training with this T up to a part of the budget.

        seed: the number of a seed; the same number is the same seed for every T. own: the returns
        of the training's own episodes, as a host env has them, and not those of the frozen policy.
        """
        if steps not in self.steps:
            raise UsageError(
                f"T = {steps} is not one of {self.steps}",
                where=f"{self.rule} on {self.ground.cell.name}, {self.ground.objective}",
                fix="choose among the layouts of the cell",
            )
        place, dealt = self.steps.index(steps), self.seeds[seed % len(self.seeds)]
        self._paid[steps, seed] = max(fraction, self._paid.get((steps, seed), 0.0))
        curves = self.ground.own_curves if own else self.ground.curves
        return curves[place, dealt, : round(GRID * fraction) + 1]


class Rule(Protocol):
    """A way of choosing a layout."""

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose a T of the cell for at most `budget` trainings."""
        ...


class Learn(Protocol):
    """How a rule is made: it may learn from the references, which never hold the env it is for."""

    def __call__(self, references: Sequence[Ground]) -> Rule:
        """Return the rule."""
        ...


def deal(ground: Ground, key: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Deal the seeds of a cell to the rule and to the judge."""
    count = len(ground.cell.seeds)
    order = [int(one) for one in key.permutation(count)]
    own = min(_RULE_SEEDS, int(count * _RULE_SHARE))
    return tuple(order[:own]), tuple(order[own:])
