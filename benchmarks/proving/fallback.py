"""What naming the usual T loses where a race learns hardly anything: fallback.json.

    python -m benchmarks.proving.fallback

The race names its best T, or the usual T where no arm gained anything at all. Beside it stand a
race that always names its best T, which is what the sealed envs were asked, and one that names the
usual T wherever no arm is clearly (by two standard errors) better than the untrained policy.
"""

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.proving.data import read_cells
from benchmarks.proving.judge import Bench, references_for
from benchmarks.proving.profiles import OBJECTIVES
from benchmarks.proving.replay import Choice, Ground, Replay
from benchmarks.proving.rules.race import Race
from benchmarks.proving.run import BUDGETS, kept_cells
from nbyt.store.atomic import write_text

RESULT = Path(__file__).with_name("fallback.json")


class Always(Race):
    """The race that always names its best T."""

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by quarter trainings."""
        schedule = self.known(cell).schedule(budget)
        gains = self.race(cell, schedule)
        return Choice(cell.steps[self._decide(cell, schedule, gains, key)], cell.spent)


class Cautious(Race):
    """The race that names the usual T unless something was clearly learnt."""

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by quarter trainings."""
        schedule = self.known(cell).schedule(budget)
        gains = self.race(cell, schedule)
        if not self.judged(cell, schedule, gains, key).learnt:
            return Choice(self.known(cell).constant, cell.spent)
        return Choice(cell.steps[self._decide(cell, schedule, gains, key)], cell.spent)


WAYS = {"race": Race, "always its best": Always, "usual unless clearly learnt": Cautious}


def losses(objective: str) -> dict[str, Any]:
    """Return the mean loss at B = 2,048 by set of envs, way and budget."""
    sets = {name: kept_cells(read_cells(sealed=name == "sealed"))[0] for name in ("open", "sealed")}
    grounds = [Ground(cell, objective) for cell in sets["open"]]
    found: dict[str, Any] = {}
    for name, cells in sets.items():
        usual = [cell for cell in cells if cell.batch == 2048 and not cell.stagger]
        benches = [Bench(Ground(cell, objective)) for cell in usual]
        for way, rule in WAYS.items():
            for budget in BUDGETS:
                rows = [
                    one.run(
                        "race",
                        rule,
                        references_for(one.ground.cell.env, grounds, one.ground),
                        budget,
                    )
                    for one in benches
                ]
                mean = float(np.mean([row.losses.mean() for row in rows]))
                found.setdefault(name, {}).setdefault(way, {})[str(budget)] = round(mean, 4)
    return found


def main() -> None:
    """Judge the three under every objective."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(losses, OBJECTIVES))
    result = dict(zip(OBJECTIVES, parts, strict=True))
    write_text(RESULT, json.dumps(result, indent=1) + "\n")
    print(f"written to {RESULT}")


if __name__ == "__main__":
    main()
