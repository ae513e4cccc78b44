"""Read cells.csv: one row for every training, with its learning curve.

Columns: env, batch, stagger (0 or 1), total, envs, steps, seed; return_0 (before training) to
return_40 (the mean return of 16 episodes of the frozen policy at point k); training_1 to
training_20 (the mean return of the training's own episodes that ended since the point before).
Point k is after max(1, round(k total / 20 / batch)) updates. Only T < 32 is trained past point 20.
An empty field is a point that was not reached, or before which no episode ended.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.proving.tasks import POINTS, SEALED
from nbyt.errors import UsageError

CELLS = Path(__file__).with_name("cells.csv")
_KEYS = 7
_RETURNS = 2 * POINTS + 1


@dataclass(frozen=True, eq=False)
class Cell:
    """An env and a batch size, with the curves of every T and seed.

    returns: [layouts, seeds, points], NaN past the end of a training. training: the returns of the
    training's own episodes, [layouts, seeds, POINTS].
    """

    env: str
    batch: int
    stagger: bool
    total: int
    steps: tuple[int, ...]
    seeds: tuple[int, ...]
    returns: np.ndarray
    training: np.ndarray

    points = POINTS

    @property
    def name(self) -> str:
        """What the cell is called on pages and in messages."""
        start = ", staggered" if self.stagger else ""
        return f"{self.env.rpartition(':')[2]}, B = {self.batch}{start}"

    @property
    def samples(self) -> np.ndarray:
        """The samples at every point."""
        places = np.arange(self.returns.shape[2])
        updates = np.maximum(1, np.round(places * self.total / POINTS / self.batch))
        return np.where(places == 0, 0, updates * self.batch)

    @property
    def untrained(self) -> float:
        """The mean return of the policies that trainings begin with."""
        return float(self.returns[:, :, 0].mean())


def read_cells(path: Path = CELLS, *, sealed: bool = False) -> list[Cell]:
    """Read the cells of the development envs, or of the sealed ones."""
    rows: dict[tuple[str, int, bool], list[list[str]]] = {}
    with path.open(newline="") as file:
        for row in list(csv.reader(file))[1:]:
            if (row[0] in SEALED) is sealed:
                rows.setdefault((row[0], int(row[1]), row[2] == "1"), []).append(row)
    return [_cell(*key, own) for key, own in rows.items()]


def _cell(env: str, batch: int, stagger: bool, rows: list[list[str]]) -> Cell:
    steps = tuple(sorted({int(row[5]) for row in rows}))
    seeds = {t: {int(row[6]) for row in rows if int(row[5]) == t} for t in steps}
    every = sorted(set.union(*seeds.values()))
    where = f"cells.csv, {env}, batch {batch}{', staggered' if stagger else ''}"
    for t, own in seeds.items():
        if missing := sorted(set(every) - own):
            raise UsageError(
                f"T = {t} has no training with seed {', '.join(map(str, missing[:5]))}",
                where=where,
                fix="run `make proving-ground`, which trains what is missing",
            )
    by_key = {(int(row[5]), int(row[6])): row for row in rows}
    table = np.array(
        [[[_number(word) for word in by_key[t, k][_KEYS:]] for k in every] for t in steps]
    )
    cell = Cell(
        env,
        batch,
        stagger,
        int(rows[0][3]),
        steps,
        tuple(every),
        table[:, :, :_RETURNS],
        table[:, :, _RETURNS:],
    )
    for t, rows_of in zip(steps, cell.returns, strict=True):
        reached = np.isfinite(rows_of).sum(1)
        if reached.min() < POINTS + 1 or len(set(reached)) > 1:
            raise UsageError(
                f"a curve of T = {t} has a point that is not a number",
                where=where,
                fix="train that cell again, or leave it out of cells.csv",
            )
    return cell


def _number(word: str) -> float:
    return float(word) if word else np.nan
