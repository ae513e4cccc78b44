"""What a way of choosing loses, on seeds that it did not use and envs that it did not learn from.

For every cell and objective the seeds are dealt to rule and judge many times, the same deals for
every rule. The judge smooths its seeds' scores over log2 T by empirical Bayes and says what share
of the way from untrained to best the chosen layout loses. Means are over cells of an env first,
then over envs; intervals are a bootstrap over envs, with the replays inside.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from benchmarks.proving.replay import Ground, Learn, Replay, deal
from benchmarks.proving.tasks import SEALED
from nbyt.errors import UsageError
from nbyt.rng import numpy_stream

REPLAYS = 100
_DRAWS = 2000
LEVEL = 0.95


class Deal(NamedTuple):
    """The seeds of one replay, and the losses that the judge sees."""

    seeds: tuple[int, ...]
    losses: np.ndarray
    naive: np.ndarray


@dataclass(frozen=True, eq=False)
class Bench:
    """A cell under an objective, with its deals."""

    ground: Ground
    replays: int = REPLAYS

    @cached_property
    def deals(self) -> list[Deal]:
        """Deal the seeds; the same for every rule."""
        found = []
        for replay in range(self.replays):
            own, judges = deal(self.ground, self._key("deal", replay))
            found.append(Deal(own, *self.ground.judged_by(judges)))
        return found

    def run(
        self,
        name: str,
        learn: Learn,
        references: Sequence[Ground],
        budget: float,
        replays: int | None = None,
    ) -> "Row":
        """Ask a rule in every replay, or in the first few."""
        rule = learn(references)
        losses, naive, costs = [], [], []
        for number, dealt in enumerate(self.deals[:replays]):
            replay = Replay(self.ground, dealt.seeds, name)
            choice = rule.choose(replay, budget, self._key(f"{name} {budget:g}", number))
            cost = max(choice.cost, replay.spent)
            _check(name, self.ground, choice.steps, cost, budget)
            place = self.ground.steps.index(choice.steps)
            losses.append(dealt.losses[place])
            naive.append(dealt.naive[place])
            costs.append(cost)
        return Row(self.ground.cell.env, np.array(losses), np.array(naive), float(np.mean(costs)))

    @property
    def oracle(self) -> "Row":
        """The rule that knows what all seeds say."""
        place = int(self.ground.losses.argmin())
        losses = np.array([dealt.losses[place] for dealt in self.deals])
        naive = np.array([dealt.naive[place] for dealt in self.deals])
        return Row(self.ground.cell.env, losses, naive, 0.0)

    def _key(self, what: str, number: int) -> np.random.Generator:
        cell = self.ground.cell
        return numpy_stream(0, f"{what} {cell.name} {self.ground.objective}", number)


class Row(NamedTuple):
    """What a rule lost in every replay of a cell."""

    env: str
    losses: np.ndarray
    naive: np.ndarray
    cost: float


def references_for(env: str, grounds: Iterable[Ground], like: Ground) -> list[Ground]:
    """The development cells of other envs with the same batch, start and objective.

    Cells of sealed envs are left out, whoever hands them over.
    """
    return [
        one
        for one in grounds
        if one.cell.env not in (env, *SEALED)
        and one.objective == like.objective
        and (one.cell.batch, one.cell.stagger) == (like.cell.batch, like.cell.stagger)
    ]


def summary(rows: Sequence[Row], key: np.random.Generator) -> dict[str, Any]:
    """The mean loss over envs with its interval, and the worst cell."""
    low, value, high = mean_over_envs([(row.env, row.losses) for row in rows], key)
    naive = mean_over_envs([(row.env, row.naive) for row in rows], key)[1]
    return {
        "loss": {"value": value, "low": low, "high": high},
        "naive": naive,
        "worst": max(float(row.losses.mean()) for row in rows),
        "cost": float(np.mean([row.cost for row in rows])),
        "cells": len(rows),
        "envs": len({row.env for row in rows}),
    }


def difference(pairs: Sequence[tuple[Row, Row]], key: np.random.Generator) -> dict[str, Any]:
    """How much more the first of each two rows loses in the same replays."""
    low, value, high = mean_over_envs(
        [(one.env, one.losses - other.losses) for one, other in pairs], key
    )
    return {"value": value, "low": low, "high": high, "envs": len({one.env for one, _ in pairs})}


def mean_over_envs(
    rows: Sequence[tuple[str, np.ndarray]], key: np.random.Generator
) -> tuple[float, float, float]:
    """The mean of the envs' means between the ends of its interval.

    Envs are redrawn, and within an env the replays. Percentiles are taken further out than the
    level says, by as much as Student's t is wider than the normal: with few envs they fall short.
    """
    table: dict[str, list[np.ndarray]] = {}
    for env, losses in rows:
        table.setdefault(env, []).append(losses)
    envs = [np.array(own) for own in table.values()]
    count = len(envs)
    value = float(np.mean([own.mean() for own in envs]))
    drawn = np.empty((_DRAWS, count))
    for column, own in enumerate(envs):
        replays = own.shape[1]
        picked = key.integers(replays, size=(_DRAWS, replays))
        drawn[:, column] = own.mean(0)[picked].mean(1)
    means = np.take_along_axis(drawn, key.integers(count, size=(_DRAWS, count)), 1).mean(1)
    if count < 2:
        return float("nan"), value, float("nan")
    wide = np.sqrt(count / (count - 1)) * stats.t.ppf((1 + LEVEL) / 2, count - 1)
    tail = stats.norm.sf(wide)
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), value, float(high)


def _check(name: str, ground: Ground, steps: int, cost: float, budget: float) -> None:
    where = f"{name} on {ground.cell.name}, {ground.objective}"
    if steps not in ground.steps:
        raise UsageError(
            f"the rule names T = {steps}, which the cell does not have",
            where=where,
            fix=f"choose one of {', '.join(map(str, ground.steps))}",
        )
    if cost > budget + 1e-6:
        raise UsageError(
            f"the rule has spent {cost:g} trainings of a budget of {budget:g}",
            where=where,
            fix="train less, or ask it with a larger budget",
        )
