"""How often the intervals of a sweep hold the truth, on invented trainings.

    python -m benchmarks.sweep.coverage [--data-sets 1000]

Beside the intervals that nbyt shows stand others that were tried, and those shown made 0.8 and
1.25 times as wide, which the gate must tell apart from good ones.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration.gate import NARROW, WIDE, limits
from benchmarks.sweep.methods import IQM, PROBABILITY, Ends
from benchmarks.sweep.worlds import PAIRS, SHAPES, WORLDS, Draw, true_iqm, true_probability
from nbyt.stats.runs import behind, iqm, redrawn, regrets

RESULT = Path(__file__).with_name("coverage.json")
SEEDS = (4, 6, 8, 12, 16, 32)
_BESIDE = (4, 8, 16)
Data = dict[str, Any]


def main() -> None:
    """Count how many intervals hold the truth; write coverage.json."""
    parser = argparse.ArgumentParser(prog="benchmarks.sweep.coverage", description=__doc__)
    parser.add_argument("--data-sets", type=int, default=1000)
    sets = parser.parse_args().data_sets
    low, high = limits(sets)
    found: Data = {"data_sets": sets, "gate": [low / sets, high / sets]}
    found["iqm"] = [row for name, draw in WORLDS.items() for row in _iqm(name, draw, sets)]
    found["improvement"] = [row for name in PAIRS for row in _probability(name, sets)]
    found["beside_the_best"] = [
        row
        for name in SHAPES
        for world in ("normal", "7 of 10 learn")
        for row in _beside(name, world, sets)
    ]
    for part in ("iqm", "improvement", "beside_the_best"):
        for row in found[part]:
            held = row["coverage"].get("shown", row["coverage"].get("behind"))
            row["passes"] = bool(low <= round(held * sets) <= high)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


def _iqm(name: str, draw: Draw, sets: int) -> Iterable[Data]:
    generator = np.random.default_rng(list(WORLDS).index(name))
    truth = true_iqm(draw, generator)
    for seeds in SEEDS:
        tables = draw(generator, (sets, seeds))
        ends = {word: [method(row, generator) for row in tables] for word, method in IQM.items()}
        values = [float(iqm(row)) for row in tables]
        yield _row(name, seeds, truth, ends, values)


def _probability(name: str, sets: int) -> Iterable[Data]:
    generator = np.random.default_rng(100 + list(PAIRS).index(name))
    first, second = PAIRS[name]
    truth = true_probability(first, second, generator)
    for seeds in SEEDS:
        pairs = list(
            zip(first(generator, (sets, seeds)), second(generator, (sets, seeds)), strict=True)
        )
        ends = {
            word: [method(x, y, generator) for x, y in pairs]
            for word, method in PROBABILITY.items()
        }
        values = [float(np.mean(x[:, None] > y)) for x, y in pairs]
        yield _row(name, seeds, truth, ends, values)


def _beside(shape: str, world: str, sets: int) -> Iterable[Data]:
    """How far the last layout is below the best, and what it loses by halves of the seeds."""
    generator, heights = (
        np.random.default_rng(200 + list(SHAPES).index(shape)),
        np.array(SHAPES[shape]),
    )
    truth = float(heights.max() - heights[-1])
    for seeds in _BESIDE:
        ends: dict[str, list[Ends]] = {"behind": [], "regret": []}
        values = []
        for _ in range(sets):
            table = heights[:, None] + WORLDS[world](generator, (len(heights), seeds))
            best = int(iqm(table).argmax())
            drawn = [iqm(table[k][redrawn(seeds, generator)]) for k in (best, -1)]
            apart = behind(table[best], table[-1], drawn[0] - drawn[1])
            lost = regrets(list(table), generator)[-1]
            ends["behind"].append((float(apart.low or 0), float(apart.high or 0)))
            ends["regret"].append((float(lost.low or 0), float(lost.high or 0)))
            values.append(float(apart.value or 0))
        yield _row(f"{shape}, {world}", seeds, truth, ends, values)


def _row(
    name: str, seeds: int, truth: float, ends: dict[str, list[Ends]], values: list[float]
) -> Data:
    first = next(iter(ends))
    coverage = {word: _held(own, truth) for word, own in ends.items()}
    for word, factor in (("narrower", NARROW), ("wider", WIDE)):
        coverage[word] = _held(map(_widened(factor), ends[first], values), truth)
    widths = {word: float(np.nanmedian([b - a for a, b in own])) for word, own in ends.items()}
    print(name, seeds, coverage, flush=True)
    rounded = {word: round(width, 4) for word, width in widths.items()}
    return {"world": name, "seeds": seeds, "truth": truth, "coverage": coverage, "width": rounded}


def _held(ends: Iterable[Ends], truth: float) -> float:
    slack = 1e-9  # truth and ends are rounded differently
    return float(np.mean([low - slack <= truth <= high + slack for low, high in ends]))


def _widened(factor: float) -> Callable[[Ends, float], Ends]:
    return lambda ends, value: (
        value - factor * (value - ends[0]),
        value + factor * (ends[1] - value),
    )


if __name__ == "__main__":
    main()
