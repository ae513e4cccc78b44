"""How often what the race says comes true: probabilities, intervals, the safe range, repeats.

Every env is asked about with the others as its references. The truth is what the judge sees of the
seeds that the race did not use; the judge's own noise is added to what was foretold before it is
counted. The probability is corrected by a power that is fitted without the env that is asked about.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.proving.judge import Bench, references_for
from benchmarks.proving.replay import Ground, Replay
from benchmarks.proving.rules.race import Race
from nbyt.stats.landscape import losses
from nbyt.stats.race import CLOSE, SAFE, best_between
from nbyt.stats.references import drawn_losses, landscapes_given

LEVELS = (0.5, 0.9)
POWERS = np.round(np.arange(0.1, 2.001, 0.01), 2)
_EDGES = (0.0, 0.5, 0.65, 0.8, 0.9, 1.0)


class Said(NamedTuple):
    """What one race said, and what was true.

    within: the share of draws in which the choice loses at most 5 %. loss: its true loss. held: for
    every level, the share of the candidates' intervals that held the truth. shares: for every
    candidate, the share of draws in which it loses at most 5 %. truly: whether it did. other: the
    place that a race with other seeds names, and its true loss.
    """

    env: str
    within: float
    loss: float
    place: int
    held: tuple[float, ...]
    shares: tuple[float, ...]
    truly: tuple[bool, ...]
    other: tuple[int, float]


def ask(bench: Bench, grounds: Sequence[Ground], budget: int, replays: int) -> list[Said]:
    """Ask the race about a cell in a few replays."""
    ground = bench.ground
    rule = Race(references_for(ground.cell.env, grounds, ground))
    found = []
    for number, dealt in enumerate(bench.deals[:replays]):
        cell = Replay(ground, dealt.seeds)
        schedule = rule.known(cell).schedule(budget)
        if schedule.seeds > len(dealt.seeds):
            continue
        tried = [cell.steps.index(t) for t in schedule.arms]
        gains = rule.race(cell, schedule)
        key = np.random.default_rng(number)
        references = rule.known(cell).references
        drawn = landscapes_given(references, cell.octaves, tried, gains, key)
        judge = ground.landscape_by(
            [k for k in range(len(ground.cell.seeds)) if k not in dealt.seeds]
        )
        seen = _as_judged(drawn, judge.covariance / ground.span**2, key)
        again = Replay(ground, dealt.seeds[schedule.seeds :])
        other = None
        if 2 * schedule.seeds <= len(dealt.seeds):
            other = best_between(cell.octaves, tried, rule.race(again, schedule).mean(1))
        best = best_between(cell.octaves, tried, gains.mean(1))
        inside = np.arange(min(tried), max(tried) + 1)
        found.append(_said(ground.cell.env, best, inside, drawn, seen, dealt.losses, other))
    return found


def _as_judged(drawn: np.ndarray, covariance: np.ndarray, key: np.random.Generator) -> np.ndarray:
    """The losses that the judge would see if the landscape were the one that was drawn."""
    noise = key.multivariate_normal(np.zeros(drawn.shape[1]), covariance, len(drawn), method="eigh")
    height = np.maximum(drawn.max(1, keepdims=True), 1e-6)
    shown: np.ndarray = np.clip(losses(np.maximum(drawn + height * noise, 1e-6), 0.0), 0.0, 1.0)
    return shown


def _said(
    env: str,
    best: int,
    inside: np.ndarray,
    drawn: np.ndarray,
    seen: np.ndarray,
    truth: np.ndarray,
    other: int | None,
) -> Said:
    true, held = np.maximum(truth[inside], 0.0), []
    for level in LEVELS:
        low, high = np.quantile(seen[:, inside], [(1 - level) / 2, (1 + level) / 2], axis=0)
        held.append(float(((low <= true + 1e-9) & (true <= high + 1e-9)).mean()))
    shares = (drawn_losses(drawn) <= CLOSE).mean(0)
    return Said(
        env,
        float(shares[best]),
        float(truth[best]),
        best,
        tuple(held),
        tuple(float(share) for share in shares[inside]),
        tuple(bool(one) for one in true <= CLOSE),
        (-1, np.nan) if other is None else (other, float(truth[other])),
    )


def powers(said: Sequence[Said]) -> dict[str, float]:
    """The power for each env, fitted on the others; and for all of them under the name ""."""
    return {
        env: _power([one for one in said if one.env != env])
        for env in ("", *dict.fromkeys(one.env for one in said))
    }


def _power(said: Sequence[Said]) -> float:
    """The power with the least Brier score; every env counts the same."""
    weights, shares, true = _weights(said), _within(said), _true(said)
    errors = (np.power.outer(shares, POWERS) - true[:, None]) ** 2
    return float(POWERS[(weights @ errors).argmin()])


def _weights(said: Sequence[Said]) -> np.ndarray:
    envs = [one.env for one in said]
    weights = np.array([1 / envs.count(env) for env in envs])
    return weights / weights.sum()


def _within(said: Sequence[Said]) -> np.ndarray:
    return np.array([one.within for one in said])


def _true(said: Sequence[Said]) -> np.ndarray:
    return np.array([one.loss <= CLOSE for one in said], float)


def calibration(said: Sequence[Said], power: Mapping[str, float]) -> dict[str, Any]:
    """Count how often it came true; every env counts the same.

    power: for each env, that of `powers`.
    """
    weights, true = _weights(said), _true(said)
    stated = _within(said) ** np.array([power[one.env] for one in said])
    base = float(weights @ true)
    safe, truly, close = 0, 0, 0
    for one in said:
        named = np.array(one.shares) ** power[one.env] >= SAFE
        safe += int(named.sum())
        truly += int((named & np.array(one.truly)).sum())
        close += sum(one.truly)
    return {
        "asked": len(said),
        "envs": len({one.env for one in said}),
        "true": _r(base),
        "stated": _r(weights @ stated),
        "brier": _r(weights @ (stated - true) ** 2),
        "brier_uncorrected": _r(weights @ (_within(said) - true) ** 2),
        "brier_of_base_rate": _r(base * (1 - base)),
        "brier_of_others_rate": _r(weights @ (_rate_of_others(said) - true) ** 2),
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


def _rate_of_others(said: Sequence[Said]) -> np.ndarray:
    """For every race, how often the choice was within 5 % on the other envs."""
    rates = {}
    for env in {one.env for one in said}:
        others = [one for one in said if one.env != env]
        rates[env] = float(_weights(others) @ _true(others)) if others else 0.5
    return np.array([rates[one.env] for one in said])


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
