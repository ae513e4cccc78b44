"""How often what the race says comes true: probabilities, intervals, the safe range, repeats.

Every env is asked about with the others as its references. The truth is what the judge sees of the
seeds that the race did not use, so that its noise counts against the intervals.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.proving.judge import Bench, references_for
from benchmarks.proving.replay import Ground, Replay
from benchmarks.proving.rules.race import Race
from nbyt.stats.race import CLOSE, best_between, losses_given

LEVELS = (0.5, 0.9)
_EDGES = (0.0, 0.5, 0.65, 0.8, 0.9, 1.0)
_SAFE = 0.9


class Said(NamedTuple):
    """What one race said, and what was true.

    within: the stated probability that the choice loses at most 5 %. loss: its true loss. held: for
    every level, the share of the candidates' intervals that held the truth. safe: candidates that
    were called safe; truly: those of them that were; close: all that were. other: the place that a
    race with other seeds names, and its true loss.
    """

    env: str
    within: float
    loss: float
    place: int
    held: tuple[float, ...]
    safe: int
    truly: int
    close: int
    other: tuple[int, float]


def ask(bench: Bench, grounds: Sequence[Ground], budget: int, replays: int) -> list[Said]:
    """Ask the race about a cell in a few replays."""
    ground = bench.ground
    rule = Race(references_for(ground.cell.env, grounds, ground))
    found = []
    for number, dealt in enumerate(bench.deals[:replays]):
        cell = Replay(ground, dealt.seeds)
        schedule = rule.known(cell).schedule(budget)
        tried = [cell.steps.index(t) for t in schedule.arms]
        gains = rule.race(cell, schedule)
        key = np.random.default_rng(number)
        references = rule.known(cell).references
        lost = losses_given(cell.octaves, tried, gains, references, key)
        again = Replay(ground, dealt.seeds[schedule.seeds :])
        other = None
        if 2 * schedule.seeds <= len(dealt.seeds):
            other = best_between(cell.octaves, tried, rule.race(again, schedule).mean(1))
        found.append(_said(ground.cell.env, tried, gains, lost, dealt.losses, cell.octaves, other))
    return found


def _said(
    env: str,
    tried: Sequence[int],
    gains: np.ndarray,
    lost: np.ndarray,
    truth: np.ndarray,
    octaves: np.ndarray,
    other: int | None,
) -> Said:
    best = best_between(octaves, tried, gains.mean(1))
    inside = np.arange(min(tried), max(tried) + 1)
    true = np.maximum(truth[inside], 0.0)
    held = []
    for level in LEVELS:
        low, high = np.quantile(lost[:, inside], [(1 - level) / 2, (1 + level) / 2], axis=0)
        held.append(float(((low <= true + 1e-9) & (true <= high + 1e-9)).mean()))
    safe = (lost[:, inside] <= CLOSE).mean(0) >= _SAFE
    return Said(
        env,
        float((lost[:, best] <= CLOSE).mean()),
        float(truth[best]),
        best,
        tuple(held),
        int(safe.sum()),
        int((true[safe] <= CLOSE).sum()),
        int((true <= CLOSE).sum()),
        (-1, np.nan) if other is None else (other, float(truth[other])),
    )


def calibration(said: Sequence[Said]) -> dict[str, Any]:
    """Count how often it came true; every env counts the same."""
    envs = [one.env for one in said]
    weights = np.array([1 / envs.count(env) for env in envs])
    weights /= weights.sum()
    stated = np.array([one.within for one in said])
    true = np.array([one.loss <= CLOSE for one in said], float)
    base = float(weights @ true)
    safe, truly, close = (sum(getattr(one, name) for one in said) for name in _COUNTS)
    return {
        "asked": len(said),
        "envs": len(set(envs)),
        "true": _r(base),
        "stated": _r(weights @ stated),
        "brier": _r(weights @ (stated - true) ** 2),
        "brier_of_base_rate": _r(base * (1 - base)),
        "reliability": _bins(stated, true),
        "intervals": {
            f"{level:g}": _r(weights @ np.array([one.held[k] for one in said]))
            for k, level in enumerate(LEVELS)
        },
        "safe_range": {
            "precision": _r(truly / safe) if safe else None,
            "recall": _r(truly / close) if close else None,
            "named": _r(safe / len(said)),
        },
        "repeats": _repeats(said, weights),
    }


_COUNTS = ("safe", "truly", "close")


def _bins(stated: np.ndarray, true: np.ndarray) -> list[dict[str, float]]:
    found = []
    for low, high in pairwise(_EDGES):
        inside = (stated >= low) & ((stated < high) | (high == 1.0))
        if inside.any():
            row = {"stated": stated[inside].mean(), "true": true[inside].mean()}
            found.append({name: _r(value) for name, value in row.items()} | {"asked": inside.sum()})
    return [{**row, "asked": int(row["asked"])} for row in found]


def _repeats(said: Sequence[Said], weights: np.ndarray) -> dict[str, float] | None:
    """How often two races with different seeds agree."""
    pairs = [(one, weight) for one, weight in zip(said, weights, strict=True) if one.other[0] >= 0]
    if not pairs:
        return None
    total = sum(weight for _, weight in pairs)
    octave = sum(weight for one, weight in pairs if abs(one.place - one.other[0]) <= 1)
    near = sum(weight for one, weight in pairs if abs(one.loss - one.other[1]) <= CLOSE)
    return {"within_an_octave": _r(octave / total), "within_5_percent": _r(near / total)}


def _r(number: float) -> float:
    return round(float(number), 4)
