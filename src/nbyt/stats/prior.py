"""What is known before any training: how layouts did on the reference tasks of the proving ground.

prior.json holds mean learning curves of every T on every reference task. With the costs of an
update they give the landscape of each task for the same samples or for the same time, the T that
loses least on average, and the T that are worth a try. No JAX.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from msgspec import structs
from scipy import special

from nbyt.results.advice import PriorFacts
from nbyt.results.prior import Prior as PriorRecord
from nbyt.results.prior import ReferenceTask, StaggerGain, TrackRecord
from nbyt.results.values import decode
from nbyt.stats.estimate import LEVEL, Estimate
from nbyt.stats.landscape import losses, smooth
from nbyt.stats.race import FRACTION, over_budget, promised
from nbyt.stats.references import LEAST_NOISE, Reference

# The T whose training for all samples is the unit of time.
UNIT_STEPS = 32
# T of the arms: every second octave.
TARGETS = (2, 8, 32, 128, 512, 2048)
ARMS = 4
# Moments of a training's budget at which a curve is read, the untrained policy among them.
_MOMENTS = 41
# Seeds are paired: a lucky one is lucky with most layouts.
_SEED_CORRELATION = 0.4


class Schedule(NamedTuple):
    """The T of a race, and the seeds that each of them is trained with."""

    arms: tuple[int, ...]
    seeds: int

    @property
    def trainings(self) -> float:
        """Return what the race costs in whole trainings."""
        return FRACTION * len(self.arms) * self.seeds


@dataclass(frozen=True, eq=False)
class Known:
    """The reference tasks under some costs: their landscapes and losses over the user's T.

    losses: [tasks, steps]. A T that ends below the untrained policy loses all, and not more.
    """

    steps: tuple[int, ...]
    references: tuple[Reference, ...]
    losses: Float[np.ndarray, "tasks steps"]

    @property
    def constant(self) -> int:
        """Return the T that loses least on average over the tasks, smoothed over three octaves.

        A T that is longer than any that all tasks were trained with is never the answer.
        """
        means = np.pad(self.losses.mean(0), 1, mode="edge")
        smoothed = means[:-2] + means[1:-1] + means[2:]
        longest = 2 ** min(float(one.octaves.max()) for one in self.references)
        known = sum(steps <= longest for steps in self.steps)
        return self.steps[int(smoothed[: known or None].argmin())]

    def mean_loss(self, steps: int) -> Estimate:
        """Return what a T loses on average, with Student's t over the tasks."""
        lost = self.losses[:, self.steps.index(steps)]
        mean, count = float(lost.mean()), len(lost)
        width = special.stdtrit(count - 1, (1 + LEVEL) / 2) / np.sqrt(count)
        half = float(width * lost.std(ddof=1))
        return Estimate(mean, max(0.0, mean - half), mean + half, count)

    def expected(self, steps: int) -> Estimate:
        """Return what a T is expected to lose on a new task, before anything is trained there.

        The interval is for one task more, by Student's t over the reference tasks, and not for
        their mean.
        """
        lost = self.losses[:, self.steps.index(steps)]
        mean, count = float(lost.mean()), len(lost)
        width = special.stdtrit(count - 1, (1 + LEVEL) / 2) * np.sqrt(1 + 1 / count)
        half = float(width * lost.std(ddof=1))
        return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half), count)

    def schedule(self, trainings: int | float, own: int | None = None) -> Schedule:
        """Return the arms of a race and their seeds.

        The arms are neighbours among every second octave of T, those of which the best loses least
        on average over the tasks. own: a T of the user's that must be among them; where the budget
        does not pay for one arm more, it takes the place of the nearest.
        """
        near = [int(np.abs(np.log2(np.array(self.steps) / t)).argmin()) for t in TARGETS]
        places = sorted(set(near))
        count = min(ARMS, len(places))
        windows = [places[k : k + count] for k in range(len(places) - count + 1)]
        # The usual T is always inside the tried range: a race may then come back to it.
        usual = self.steps.index(self.constant)
        around = [window for window in windows if window[0] <= usual <= window[-1]] or windows
        chosen = min(around, key=lambda window: float(self.losses[:, window].min(1).mean()))
        arms = [self.steps[place] for place in chosen]
        if own and own not in arms:
            if _seeds(trainings, len(arms) + 1) == 0:
                arms.remove(min(arms, key=lambda steps: abs(np.log2(steps / own))))
            arms.append(own)
        return Schedule(tuple(sorted(arms)), _seeds(trainings, len(arms)))


@dataclass(frozen=True, eq=False)
class Prior:
    """The reference tasks that nbyt ships."""

    record: PriorRecord
    sha256: str

    @property
    def facts(self) -> PriorFacts:
        """Return what an answer names of the data: its date, its hash, its number of tasks."""
        return PriorFacts(version=self.record.version, sha256=self.sha256, tasks=len(self.tasks))

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """Return the names of the reference envs."""
        return tuple(dict.fromkeys(task.env for task in self.record.tasks))

    def without(self, env: str) -> "Prior":
        """Return the tasks of other envs: what is known of this one would be told twice."""
        name = env.rpartition(":")[2]
        others = tuple(task for task in self.record.tasks if task.env.rpartition(":")[2] != name)
        return replace(self, record=structs.replace(self.record, tasks=others))

    def under(
        self, steps: Sequence[int], update_costs: Float[np.ndarray, " steps"] | None, batch: int
    ) -> Known:
        """Return what the tasks say about these T.

        update_costs: of an update with each T, in any unit; None for the same samples.
        """
        known = tuple(sorted(steps))
        costs = np.ones(len(known)) if update_costs is None else update_costs[np.argsort(steps)]
        tasks = self._nearest(batch)
        references = tuple(reference(task, known, costs) for task in tasks)
        octaves = np.log2(np.array(known, float))
        lost = [losses(np.interp(octaves, one.octaves, one.mean), 0.0) for one in references]
        return Known(known, references, np.minimum(lost, 1.0))

    def track_record(self, costs: str, trainings: int | float) -> TrackRecord | None:
        """Return what the race lost on tasks it had not seen, at the nearest budget below."""
        rows = [
            row for row in self.record.record if row.costs == costs and row.trainings <= trainings
        ]
        return max(rows, key=lambda row: row.trainings) if rows else None

    def stagger_gain(self, costs: str, steps: int) -> StaggerGain | None:
        """Return what staggered starts win with the nearest T; None where nobody measured it."""
        rows = [row for row in self.record.stagger if row.costs == costs]
        return min(rows, key=lambda row: abs(math.log2(row.steps / steps))) if rows else None

    def _nearest(self, batch: int) -> list[ReferenceTask]:
        """Return every env once, at its batch size nearest to this one."""
        found: dict[str, ReferenceTask] = {}
        for task in self.record.tasks:
            other = found.get(task.env)
            if other is None or _far(task, batch) < _far(other, batch):
                found[task.env] = task
        return list(found.values())


def load_prior() -> Prior:
    """Read the reference tasks that are shipped."""
    source = files("nbyt") / "prior.json"
    text = source.read_bytes()
    record = decode(json.loads(text), PriorRecord, Path(str(source)))
    return Prior(record, hashlib.sha256(text).hexdigest())


def reference(
    task: ReferenceTask, steps: Sequence[int], costs: Float[np.ndarray, " steps"]
) -> Reference:
    """Return the landscape of a task under the costs of the user's updates.

    The budget is what T = 32 costs for all samples of the task. Costs of T that the user's batch
    does not have are interpolated.
    """
    octaves = np.log2(np.array(task.steps, float))
    own = np.exp(np.interp(octaves, np.log2(np.array(steps, float)), np.log(costs)))
    budget = float(np.interp(np.log2(UNIT_STEPS), octaves, own)) * task.total
    curves, spreads = (
        np.array([_at_moments(task, *pair, budget) for pair in zip(table, own, strict=True)])
        for table in (task.mean, task.sd)
    )
    return _reference(octaves, curves, spreads, task.seeds)


def _at_moments(
    task: ReferenceTask, row: Sequence[float], cost: float, budget: float
) -> Float[np.ndarray, " moments"]:
    samples = np.array(task.samples[: len(row)], float)
    curve: np.ndarray = over_budget(np.array([row]), samples, cost, budget, _MOMENTS)[0]
    return curve


def _reference(octaves: np.ndarray, curves: np.ndarray, sds: np.ndarray, seeds: int) -> Reference:
    """Return the landscape of mean curves, [steps, moments], as shares of the best."""
    scores, spread = (((one[:, 1:] + one[:, :-1]) / 2).mean(1) for one in (curves, sds))
    spread = np.maximum(spread, LEAST_NOISE * max(float(scores.max()), 1e-12))
    correlation = np.full((len(octaves),) * 2, _SEED_CORRELATION)
    np.fill_diagonal(correlation, 1.0)
    landscape = smooth(octaves, scores, np.outer(spread, spread) * correlation / seeds)
    best = max(float(landscape.mean.max()), 1e-12)
    quarter = round((curves.shape[1] - 1) * FRACTION) + 1
    noise = promised(sds[:, :quarter]) / best
    promise = promised(curves[:, :quarter]) / best - scores / best
    logs = np.pad(np.log(np.maximum(noise, LEAST_NOISE)), 1, mode="edge")
    return Reference(
        octaves,
        landscape.mean / best,
        landscape.covariance / best**2,
        np.exp(np.convolve(logs, np.ones(3) / 3, "valid")),
        promise,
    )


def _seeds(trainings: int | float, arms: int) -> int:
    """Return how many seeds of each arm a budget pays for."""
    return int(trainings / FRACTION / arms + 1e-9)


def _far(task: ReferenceTask, batch: int) -> tuple[float, int]:
    """Return how many octaves away a task's batch is; of two, the larger has more of the T."""
    return abs(float(np.log2(task.batch / batch))), -task.batch
