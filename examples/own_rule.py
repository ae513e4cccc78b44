"""Try a way of choosing T on the proving ground, in ten lines.

    python examples/own_rule.py

A rule sees recorded trainings and pays for each; it may learn from `references`, cells of other
envs. This one trains T = 8 and T = 64 for a quarter each, with two seeds, and keeps the better.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from benchmarks.proving.data import read_cells
from benchmarks.proving.judge import Bench, references_for, summary
from benchmarks.proving.replay import Choice, Ground, Replay


class EitherOr:
    """The better of two T, by the last return of quarter trainings."""

    def __init__(self, references: list[Ground]) -> None:
        pass

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Train both, and keep the better."""
        last = {t: np.mean([cell.train(t, seed, 0.25)[-1] for seed in (0, 1)]) for t in (8, 64)}
        return Choice(max(last, key=lambda t: last[t]), cell.spent)


def main() -> None:
    """Judge it at equal time on parallel hardware."""
    grounds = [Ground(cell, "parallel:16") for cell in read_cells()]
    rows = [
        Bench(one, replays=20).run(
            "either or", EitherOr, references_for(one.cell.env, grounds, one), budget=1
        )
        for one in grounds
    ]
    found = summary(rows, np.random.default_rng(0))
    loss = found["loss"]
    print(
        f"loses {100 * loss['value']:.1f} % [{100 * loss['low']:.1f}, {100 * loss['high']:.1f}] "
        f"on {found['envs']} envs for {found['cost']:g} trainings"
    )


if __name__ == "__main__":
    main()
