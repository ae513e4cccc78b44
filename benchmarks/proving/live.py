"""Does a search on recorded curves lose what it loses on live trainings? live.json.

    python -m benchmarks.proving.live

In one cell Optuna trains for itself, with seeds that the cell does not have; what it chooses is
judged by all recorded seeds. Beside it stand its replays there, judged by the same seeds.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.proving.data import read_cells
from benchmarks.proving.profiles import GRID, REFERENCE, update_costs
from benchmarks.proving.replay import Ground, Replay, deal
from benchmarks.proving.rules import SLOW
from benchmarks.proving.tasks import TASKS
from benchmarks.proving.train import Block, rows_of
from nbyt.rng import numpy_stream
from nbyt.stats import race
from nbyt.stats.estimate import mean
from nbyt.store.atomic import write_text
from nbyt.training import hardware

RESULT = Path(__file__).with_name("live.json")
ENV, BATCH, OBJECTIVE, BUDGET = "tabular:FrozenLake8x8-v1", 2048, "parallel:16", 4
_NAMES = ("Optuna TPE, median pruner", "Optuna TPE, Hyperband pruner")
_SEARCHES, _REPLAYS = 10, 200
# A live search has seeds of its own; those of a cell begin at 0.
_FIRST_SEED, _SEEDS_APART = 10_000, 100


@dataclass
class Live(Replay):
    """A cell whose trainings are done when a rule asks for them."""

    search: int = 0
    _trained: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)

    def train(
        self, steps: int, seed: int, fraction: float = 1.0, *, own: bool = False
    ) -> np.ndarray:
        """Return the curve of a training up to a part of the budget; it is trained once."""
        super().train(steps, seed, fraction, own=own)  # counts what it costs
        if (steps, seed) not in self._trained:
            self._trained[steps, seed] = self._curve(steps, seed)
        return self._trained[steps, seed][: round(GRID * fraction) + 1]

    def _curve(self, steps: int, seed: int) -> np.ndarray:
        """Train to the end, and return the curve over the budget."""
        cell = self.ground.cell
        task = next(one for one in TASKS if one.env == cell.env)
        first = _FIRST_SEED + _SEEDS_APART * self.search + seed
        (row,) = rows_of(Block(task, cell.batch, cell.stagger, steps, first, 1))
        costs = dict(zip(cell.steps, update_costs(cell, self.ground.objective), strict=True))
        budget = costs[REFERENCE] * cell.samples[cell.points]
        samples = np.array([0, *row["samples"]], float)
        curve = np.array([row["returns"]])
        return race.over_budget(curve, samples, costs[steps], budget, GRID + 1)[0]


def main() -> None:
    """Search live and on recorded curves."""
    hardware.prepare("cpu")
    which = (ENV, BATCH, False)
    cell = next(one for one in read_cells() if (one.env, one.batch, one.stagger) == which)
    ground = Ground(cell, OBJECTIVE)
    lost = dict(zip(ground.steps, ground.losses, strict=True))
    rows: dict[str, Any] = {}
    for name in _NAMES:
        rule = SLOW[name][0]([])
        found: dict[str, list[float]] = {"live": [], "replayed": []}
        for number in range(_REPLAYS):
            seeds, _ = deal(ground, numpy_stream(0, f"live deal {name}", number))
            replays = {"replayed": Replay(ground, seeds, name)}
            if number < _SEARCHES:
                replays["live"] = Live(ground, seeds, name, search=number)
            for kind, replay in replays.items():
                key = numpy_stream(0, f"{kind} {name}", number)
                found[kind].append(lost[rule.choose(replay, BUDGET, key).steps])
        rows[name] = {kind: mean(np.array(of)).as_dict() for kind, of in found.items()}
        print(name, rows[name], flush=True)
    facts = {"env": ENV, "batch": BATCH, "objective": OBJECTIVE, "budget": BUDGET}
    facts |= {"searches": _SEARCHES, "replays": _REPLAYS}
    write_text(RESULT, json.dumps({**facts, "lost": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
