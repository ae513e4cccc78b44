"""Further questions that the cells answer.

Is the batch size worth a race, do staggered starts win, can a training's own episodes stand for
evaluations of the frozen policy, and does what is expected before any race come true?
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.proving.data import Cell
from benchmarks.proving.judge import mean_over_envs
from benchmarks.proving.prior import task_of
from benchmarks.proving.profiles import COSTS, GRID, REFERENCE, scores, update_costs
from benchmarks.proving.replay import Ground, deal
from benchmarks.proving.tasks import BATCHES, SHORT
from nbyt.results.prior import Prior as PriorRecord
from nbyt.rng import numpy_stream
from nbyt.stats import race
from nbyt.stats.landscape import matern, noise_of_means, smooth
from nbyt.stats.prior import Prior

USUAL = 2048
REPLAYS = 60
# Objectives of the comparison of batch sizes: the vector steps that an update's learning costs at
# B = 2,048, None for equal samples; and the part of the usual budget. Half of it where the whole
# would outlast the trainings of B = 8,192.
BATCH_OBJECTIVES = {"samples": (None, 1.0), "parallel:16": (16.0, 0.5), "parallel:64": (64.0, 1.0)}
_BATCH_BUDGETS = (2, 4, 8)
# Every second octave, like the arms of the race; which four is learnt on the other envs.
_WINDOWS = ((1, 3, 5, 7), (3, 5, 7, 9))
_BATCH_LENGTH = 4.0
_PAIRS = ((512, 2048), (2048, 8192))
_EXPECTED_OBJECTIVES = ("samples", "parallel:4", "parallel:16", "parallel:64")
_STAGGER_OBJECTIVES = ("samples", "measured", "parallel:4", "parallel:16", "parallel:64")


def answers(cells: Sequence[Cell]) -> dict[str, Any]:
    """Answer every question as far as there are cells for it."""
    return {
        "batches": {name: batches(cells, *how, name) for name, how in BATCH_OBJECTIVES.items()},
        "own_returns": {name: own_returns(cells, name) for name in ("samples", "parallel:16")},
        "expected": {name: expected(cells, name) for name in _EXPECTED_OBJECTIVES},
        "stagger": staggers(cells),
        "stagger_races": {name: stagger_races(cells, name) for name in _EXPECTED_OBJECTIVES},
    }


def staggers(cells: Sequence[Cell]) -> dict[str, Any]:
    """What staggered starts win under each objective for which updates have costs."""
    objectives = [name for name in _STAGGER_OBJECTIVES if name != "measured" or COSTS.exists()]
    return {name: stagger(cells, name) for name in objectives}


@dataclass(frozen=True, eq=False)
class Table:
    """A cell whose curves run over a budget that is the same for every batch size of its env."""

    cell: Cell
    learning: float | None
    part: float

    @cached_property
    def curves(self) -> np.ndarray:
        """The evaluated returns over the budget.

        What an update's learning costs grows with the batch, because its mini-batches are as small
        as ever. A curve that ends before the budget keeps its last return.
        """
        cell, found = self.cell, []
        for steps, rows in zip(cell.steps, cell.returns, strict=True):
            if self.learning is None:
                cost, budget = 1.0, float(cell.total)
            else:
                cost = (steps + self.learning * cell.batch / USUAL) / cell.batch
                budget = (REFERENCE + self.learning) * cell.total / USUAL
            known = ~np.isnan(rows[0])
            samples = cell.samples[known]
            found.append(
                race.over_budget(rows[:, known], samples, cost, self.part * budget, GRID + 1)
            )
        return np.array(found)

    @cached_property
    def scores(self) -> np.ndarray:
        """The mean return over the budget, [layouts, seeds]."""
        return scores(self.curves)

    @cached_property
    def octaves(self) -> np.ndarray:
        """The logarithms of T to base 2."""
        return np.log2(np.array(self.cell.steps, float))

    def gains(self, seeds: Sequence[int]) -> np.ndarray:
        """The scores above the untrained policy by some seeds, smoothed over log2 T."""
        own = self.scores[:, list(seeds)]
        found = smooth(self.octaves, own.mean(1), noise_of_means(own))
        gains: np.ndarray = found.mean - self.cell.untrained
        return gains


Tables = dict[int, Table]


def batches(
    cells: Sequence[Cell], learning: float | None, part: float, name: str
) -> dict[str, Any] | None:
    """What the best batch size and T win over the best T at B = 2,048, and races over both."""
    by_env: dict[str, Tables] = {}
    for cell in cells:
        if not cell.stagger:
            by_env.setdefault(cell.env, {})[cell.batch] = Table(cell, learning, part)
    by_env = {env: own for env, own in by_env.items() if set(own) == set(BATCHES)}
    if len(by_env) < 3:
        return None
    known = {env: _losses(own) for env, own in by_env.items()}
    rows: dict[str, list[tuple[str, np.ndarray]]] = {}
    for env, tables in by_env.items():
        others = [losses_of for other, losses_of in known.items() if other != env]
        for what, lost in _replays(env, tables, others, name).items():
            rows.setdefault(what, []).append((env, np.array(lost)))
    return {
        "envs": len(by_env),
        "best_batch": {env.rpartition(":")[2]: _best_batch(own) for env, own in known.items()},
        "loss": {what: _interval(own, f"{name} {what}") for what, own in rows.items()},
        "more_than_usual": {
            what: _interval(_minus(own, rows[_usual(what)]), f"{name} {what} paired")
            for what, own in rows.items()
            if what != _usual(what)
        },
    }


def _replays(
    env: str, tables: Tables, others: Sequence[dict[int, np.ndarray]], name: str
) -> dict[str, list[float]]:
    """The losses of the best layouts by other seeds, and of races."""
    found: dict[str, list[float]] = {}
    windows = {b: _window(b, others) for b in tables}
    for number in range(REPLAYS):
        key = numpy_stream(0, f"batches {env} {name}", number)
        least = min(tables.values(), key=lambda table: len(table.cell.seeds))
        own, judges = deal(Ground(least.cell, "samples"), key)
        truth = {b: one.gains(judges) for b, one in tables.items()}
        best = max(float(gains.max()) for gains in truth.values())
        seen = {b: one.gains(own) for b, one in tables.items()}
        for allowed in ((USUAL,), *_PAIRS, BATCHES):
            batch = max(allowed, key=lambda b: seen[b].max())
            lost = 1 - truth[batch][seen[batch].argmax()] / best
            found.setdefault(f"best of {_words(allowed)}", []).append(float(lost))
        for budget in _BATCH_BUDGETS:
            for allowed in ((USUAL,), *_PAIRS):
                seeds = own[: int(budget / race.FRACTION) // (4 * len(allowed))]
                batch, place = _raced({b: tables[b] for b in allowed}, windows, seeds)
                lost = 1 - truth[batch][place] / best
                found.setdefault(f"race of {_words(allowed)}, {budget}", []).append(float(lost))
    return found


def _raced(
    tables: Tables, windows: dict[int, tuple[int, ...]], seeds: Sequence[int]
) -> tuple[int, int]:
    """The batch and the place of T that a race over both names: smoothed over log2 of both."""
    arms, gains, candidates = [], [], []
    for batch, table in tables.items():
        for place in windows[batch]:
            part = table.curves[place, list(seeds), : round(GRID * race.FRACTION) + 1]
            arms.append((table.octaves[place], np.log2(batch)))
            gains.append(float(race.promised(part).mean()) - table.cell.untrained)
        window = windows[batch]
        candidates += [(batch, place) for place in range(window[0], window[-1] + 1)]
    x = np.array(arms)
    y = np.array([(tables[b].octaves[place], np.log2(b)) for b, place in candidates])
    inner = _similar(x, x) + race.NOISE**2 * np.eye(len(x))
    scale = max(*gains, 1e-12)
    smoothed = _similar(y, x) @ np.linalg.solve(inner, np.array(gains) / scale)
    return candidates[int(smoothed.argmax())]


def _similar(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    together = matern(x[:, 0], y[:, 0], race.LENGTH) * matern(x[:, 1], y[:, 1], _BATCH_LENGTH)
    found: np.ndarray = race.HEIGHT**2 * together + 1.0
    return found


def _losses(tables: Tables) -> dict[int, np.ndarray]:
    gains = {b: one.gains(range(len(one.cell.seeds))) for b, one in tables.items()}
    best = max(float(own.max()) for own in gains.values())
    return {b: 1 - own / best for b, own in gains.items()}


def _window(batch: int, others: Sequence[dict[int, np.ndarray]]) -> tuple[int, ...]:
    def loss(window: tuple[int, ...]) -> float:
        return float(np.mean([one[batch][list(window)].min() for one in others]))

    return min(_WINDOWS, key=loss)


def _best_batch(lost: dict[int, np.ndarray]) -> int:
    return min(lost, key=lambda batch: float(lost[batch].min()))


def _usual(what: str) -> str:
    """What a choice among several batch sizes is compared with."""
    kind, _, rest = what.partition(" of ")
    _, comma, budget = rest.partition(",")
    return f"{kind} of {_words((USUAL,))}{comma}{budget}"


def _words(allowed: Sequence[int]) -> str:
    return " and ".join(str(batch) for batch in allowed)


def own_returns(cells: Sequence[Cell], objective: str) -> dict[str, Any]:
    """How far the promise of a training's own episodes lies from that of evaluations, by T.

    In shares of the gain of the best T, in the mean over envs; of all seeds, so that nearly nothing
    of it is noise.
    """
    far: dict[str, list[tuple[str, np.ndarray]]] = {"short": [], "long": []}
    for cell in cells:
        if cell.batch != USUAL or cell.stagger or np.isnan(cell.training).all():
            continue
        ground = Ground(cell, objective)
        last = round(GRID * race.FRACTION) + 1
        own, evaluated = (
            race.promised(curves[..., :last]).mean(1)
            for curves in (ground.own_curves, ground.curves)
        )
        best = float(ground.scores.mean(1).max()) - cell.untrained
        off = np.abs(own - evaluated) / best
        short = np.array(cell.steps) < SHORT
        far["short"].append((cell.env, off[short]))
        far["long"].append((cell.env, off[~short]))
    return {
        name: {**_interval(rows, f"own {name}"), "most": max(float(row.max()) for _, row in rows)}
        for name, rows in far.items()
        if rows
    }


def expected(cells: Sequence[Cell], objective: str) -> dict[str, float] | None:
    """How often the interval for a new task holds what a T loses there, at B = 2,048.

    Every env is foretold by the others; every T of it counts once.
    """
    usual = [cell for cell in cells if cell.batch == USUAL and not cell.stagger]
    if len({cell.env for cell in usual}) < 3:
        return None
    held, widths = [], []
    for cell in usual:
        others = tuple(task_of(other) for other in usual if other.env != cell.env)
        prior = Prior(PriorRecord(version="", tasks=others), "")
        known = prior.under(cell.steps, update_costs(cell, objective), cell.batch)
        for steps, loss in zip(cell.steps, Ground(cell, objective).losses, strict=True):
            found = known.expected(steps)
            assert found.low is not None
            assert found.high is not None
            held.append(found.low <= min(max(float(loss), 0.0), 1.0) <= found.high)
            widths.append(found.high - found.low)
    return {
        "held": round(float(np.mean(held)), 4),
        "width": round(float(np.mean(widths)), 4),
        "asked": len(held),
    }


def stagger(cells: Sequence[Cell], objective: str) -> dict[str, Any] | None:
    """What staggered starts win at each T, in shares of the gain of the best T of both.

    One env says nothing about others.
    """
    pairs = _both_starts(cells)
    if len({one.env for one, _ in pairs}) < 2:
        return None
    rows: dict[int, list[tuple[str, np.ndarray]]] = {}
    lost: dict[str, list[tuple[str, np.ndarray]]] = {"together": [], "staggered": []}
    for pair in pairs:
        together, staggered = (Ground(cell, objective) for cell in pair)
        seeds = min(len(cell.seeds) for cell in pair)
        gains = [one.scores[:, :seeds] - one.cell.untrained for one in (together, staggered)]
        best = max(float(own.mean(1).max()) for own in gains)
        for steps, won in zip(together.steps, (gains[1] - gains[0]) / best, strict=True):
            rows.setdefault(steps, []).append((pair[0].env, won))
        for name, own in zip(lost, gains, strict=True):
            lost[name].append((pair[0].env, np.array([1 - float(own.mean(1).max()) / best])))
    return {
        "envs": len({one.env for one, _ in pairs}),
        "won": {
            str(steps): _interval(own, f"stagger {objective} {steps}")
            for steps, own in rows.items()
        },
        "best_loses": {name: float(np.mean([x for _, x in own])) for name, own in lost.items()},
    }


def _both_starts(cells: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Every cell whose envs start together, with the same one staggered."""
    return [
        (one, other)
        for one in cells
        for other in cells
        if not one.stagger and other.stagger
        if (one.env, one.batch, one.steps) == (other.env, other.batch, other.steps)
    ]


def stagger_races(cells: Sequence[Cell], objective: str) -> dict[str, Any] | None:
    """What races over T lose with one kind of starts, and a race in which both kinds are arms.

    A loss is against the best T of both kinds, by seeds that the race did not use. All races cost
    the same: with twice the arms there are half the seeds.
    """
    pairs = _both_starts(cells)
    if not pairs:
        return None
    rows: dict[str, list[tuple[str, np.ndarray]]] = {}
    for pair in pairs:
        grounds = [Ground(cell, objective) for cell in pair]
        arms = _arms(pair[0], cells, objective)
        lost = [_stagger_replay(grounds, arms, number) for number in range(REPLAYS)]
        for name in lost[0]:
            rows.setdefault(name, []).append((pair[0].env, np.array([one[name] for one in lost])))
    return {
        "envs": len({one.env for one, _ in pairs}),
        "budget": _STAGGER_BUDGET,
        "loss": {
            name: _interval(own, f"stagger races {objective} {name}") for name, own in rows.items()
        },
        "more_than_staggered": {
            name: _interval(_minus(own, rows["staggered"]), f"{objective} {name} paired")
            for name, own in rows.items()
            if name != "staggered"
        },
    }


_STARTS = ("together", "staggered")
_STAGGER_BUDGET = 4


def _arms(cell: Cell, cells: Iterable[Cell], objective: str) -> tuple[int, ...]:
    """The arms of a race on the cell, by the other envs."""
    others = tuple(
        task_of(one)
        for one in cells
        if one.env != cell.env and one.batch == cell.batch and not one.stagger
    )
    prior = Prior(PriorRecord(version="", tasks=others), "")
    known = prior.under(cell.steps, update_costs(cell, objective), cell.batch)
    return known.schedule(_STAGGER_BUDGET).arms


def _stagger_replay(
    grounds: Sequence[Ground], arms: Sequence[int], number: int
) -> dict[str, float]:
    """What each race loses in one replay."""
    key = numpy_stream(0, f"stagger {grounds[0].cell.env} {grounds[0].objective}", number)
    shared = min(grounds, key=lambda ground: len(ground.cell.seeds))
    own, judges = deal(shared, key)
    truth = [one.landscape_by(judges).mean - one.cell.untrained for one in grounds]
    best = max(float(gains.max()) for gains in truth)
    places = [grounds[0].steps.index(steps) for steps in arms]
    seeds = int(_STAGGER_BUDGET / race.FRACTION) // len(arms)
    found = {}
    for name, ground, gains in zip(_STARTS, grounds, truth, strict=True):
        place = int(_inside(ground, places, own[:seeds]).argmax())
        found[name] = 1 - float(gains[min(places) + place]) / best
    seen = np.array([_inside(ground, places, own[: seeds // 2]) for ground in grounds])
    kind, place = np.unravel_index(int(seen.argmax()), seen.shape)
    found["both"] = 1 - float(truth[kind][min(places) + place]) / best
    return found


def _inside(ground: Ground, places: Sequence[int], seeds: Sequence[int]) -> np.ndarray:
    """The gains that quarter trainings promise, smoothed over log2 T, inside the tried range."""
    last = round(GRID * race.FRACTION) + 1
    curves = ground.curves[np.ix_(list(places), list(seeds))][..., :last]
    gains = race.promised(curves).mean(1) - ground.cell.untrained
    scale = max(float(gains.max()), 1e-12)
    whole = scale * race.smoothed(ground.octaves, places, gains)
    found: np.ndarray = whole[min(places) : max(places) + 1]
    return found


def _minus(
    rows: Iterable[tuple[str, np.ndarray]], others: Iterable[tuple[str, np.ndarray]]
) -> list[tuple[str, np.ndarray]]:
    return [(env, own - other) for (env, own), (_, other) in zip(rows, others, strict=True)]


def _interval(rows: Sequence[tuple[str, np.ndarray]], what: str) -> dict[str, float]:
    low, value, high = mean_over_envs(_of_one_length(rows), numpy_stream(0, f"answers {what}"))
    return {
        name: round(float(x), 4)
        for name, x in zip(("value", "low", "high"), (value, low, high), strict=True)
    }


def _of_one_length(rows: Sequence[tuple[str, np.ndarray]]) -> list[tuple[str, np.ndarray]]:
    """The rows with as many entries each as the shortest of their env."""
    least = {env: min(len(row) for name, row in rows if name == env) for env, _ in rows}
    return [(env, row[: least[env]]) for env, row in rows]
