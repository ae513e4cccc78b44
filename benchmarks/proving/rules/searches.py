"""Searches that know nothing of other tasks (but for the portfolio) and little of T."""

from collections.abc import Sequence
from itertools import count as counting

import numpy as np

from benchmarks.proving.replay import Choice, Ground, Replay
from benchmarks.proving.rules.constant import constant
from nbyt.stats.race import best_between


class _Search:
    """A search that needs no references."""

    def __init__(self, references: Sequence[Ground] = ()) -> None:
        pass


class RandomLayouts(_Search):
    """Train k random layouts once each, and keep the best."""

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by whole trainings."""
        arms = key.permutation(cell.steps)[: int(budget)]
        return _best(cell, {int(t): _score(cell, int(t), k) for k, t in enumerate(arms)})


class ArgmaxOfGrid(_Search):
    """Train k evenly spaced T once each, and keep the best."""

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by whole trainings."""
        return _best(cell, {t: _score(cell, t, k) for k, t in enumerate(_even(cell, budget))})


class SmoothedGrid(_Search):
    """The same, with scores smoothed over log2 T; the best T between the first and the last."""

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by whole trainings."""
        arms = _even(cell, budget)
        means = np.array([_score(cell, t, k) for k, t in enumerate(arms)])
        places = [cell.steps.index(t) for t in arms]
        best = best_between(cell.octaves, places, means - cell.untrained, noise=0.15)
        return Choice(cell.steps[best], cell.spent)


class SuccessiveHalving(_Search):
    """A quarter training of as many layouts as the budget allows; the better half goes on."""

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by trainings that go on as long as they are among the better half."""
        rungs = (0.25, 0.5, 1.0)
        count = max(n for n in range(1, 100) if _cost(n, rungs, 2) <= budget + 1e-9)
        arms = [(t, k) for k, t in enumerate(_even(cell, count))]
        arms += _random_arms(cell, count - len(arms), key, counting(len(arms)))
        return Choice(_halve(cell, arms, rungs, 2)[0], cell.spent)


class Hyperband(_Search):
    """Brackets of successive halving that begin with a ninth, a third and all of a training."""

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose the best of all brackets' winners, by the longest trainings."""
        brackets = [(1 / 9, 1 / 3, 1.0), (1 / 3, 1.0), (1.0,)]
        first, winners = counting(), []
        for place, rungs in enumerate(brackets):
            share = (budget - cell.spent) / (len(brackets) - place) + 1e-9
            count = max(n for n in range(200) if n == 0 or _cost(n, rungs, 3) <= share)
            if count:
                arms = _random_arms(cell, count, key, first)
                winners.append(_halve(cell, arms, rungs, 3))
        if not winners:
            return Choice(int(key.choice(cell.steps)), cell.spent)
        return Choice(max(winners, key=lambda one: one[1])[0], cell.spent)


class Portfolio:
    """The k layouts that together lose least on the references, once each; the best of them."""

    def __init__(self, references: Sequence[Ground]) -> None:
        self._references = references
        self._fallback = constant(references)

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by whole trainings."""
        table = np.array([_on(cell, one) for one in self._references])
        chosen: list[int] = []
        for _ in range(min(int(budget), len(cell.steps))):
            left = [k for k in range(len(cell.steps)) if k not in chosen]
            together = [table[:, [*chosen, k]].min(1).mean() for k in left]
            chosen.append(left[int(np.argmin(together))])
        if len(chosen) == 1:
            return self._fallback.choose(cell, budget, key)
        arms = [cell.steps[k] for k in chosen]
        return _best(cell, {t: _score(cell, t, k) for k, t in enumerate(arms)})


def _score(cell: Replay, steps: int, seed: int, fraction: float = 1.0) -> float:
    curve = cell.train(steps, seed, fraction)
    return float(((curve[1:] + curve[:-1]) / 2).mean())


def _best(cell: Replay, scored: dict[int, float]) -> Choice:
    return Choice(max(scored, key=lambda t: scored[t]), cell.spent)


def _even(cell: Replay, budget: float) -> list[int]:
    count = min(int(budget), len(cell.steps))
    places = np.linspace(0, len(cell.steps) - 1, count + 2)[1:-1] if count < 3 else None
    chosen = np.linspace(0, len(cell.steps) - 1, count) if places is None else places
    return [cell.steps[k] for k in np.unique(chosen.round().astype(int))]


def _random_arms(
    cell: Replay, count: int, key: np.random.Generator, first: "counting[int] | None" = None
) -> list[tuple[int, int]]:
    """Layouts and seeds, every layout once before any comes again."""
    numbers = first or counting()
    arms: list[tuple[int, int]] = []
    while len(arms) < count:
        arms += [(int(t), next(numbers)) for t in key.permutation(cell.steps)]
    return arms[:count]


def _cost(count: int, rungs: Sequence[float], keep: int) -> float:
    """What a bracket of so many arms costs; the last one need not go on."""
    cost, done = 0.0, 0.0
    for rung in rungs:
        cost += count * (rung - done)
        count, done = max(1, count // keep), rung
        if count == 1:
            break
    return cost


def _halve(
    cell: Replay, arms: list[tuple[int, int]], rungs: Sequence[float], keep: int
) -> tuple[int, float]:
    """The winner of a bracket, and its score."""
    for rung in rungs:
        scored = {arm: _score(cell, *arm, rung) for arm in arms}
        arms = sorted(arms, key=lambda arm: -scored[arm])[: max(1, len(arms) // keep)]
        if len(arms) == 1:
            break
    return arms[0][0], scored[arms[0]]


def _on(cell: Replay, reference: Ground) -> np.ndarray:
    return np.interp(cell.octaves, reference.octaves, reference.losses)


random_layouts = RandomLayouts
argmax_of_grid = ArgmaxOfGrid
smoothed_grid = SmoothedGrid
successive_halving = SuccessiveHalving
hyperband = Hyperband
portfolio = Portfolio
