"""Sweeps whose trainings are made up: curves of a known shape, failures where they are wanted."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from msgspec import convert

from nbyt.envs import resolve
from nbyt.errors import EnvError
from nbyt.results import Failure, Sweep, plain
from nbyt.results.sweep import CellCounts
from nbyt.sweeps.grid import Cell, Grid, make_grid
from nbyt.sweeps.summary import summarise
from nbyt.training.costs import Costs
from nbyt.training.curves import Curve

Data = dict[str, Any]
STEPS = (1, 2, 4, 8, 16, 32, 64)


def grid_of(seeds: int = 8, steps: Iterable[int] = STEPS) -> Grid:
    """Layouts of a batch of 64, 20 points."""
    layouts = [(64 // t, t) for t in steps]
    return make_grid(
        resolve("tabular:FrozenLake-v1"), batch=64, seeds=seeds, total=3000, layouts=layouts
    )


def curves_of(grid: Grid, noise: float = 0.05) -> dict[Cell, Curve]:
    """Best in the middle, at T = 8; every fifth training of the longest T does not learn."""
    generator = np.random.default_rng(0)
    samples = tuple(point * grid.batch for point in grid.points)
    found = {}
    for cell in grid.cells:
        top = 1.0 - 0.1 * (np.log2(cell.steps) - 3) ** 2
        rise = 1 - np.exp(-np.arange(1, len(samples) + 1) / 6)
        level = top + noise * generator.normal()
        learned = level if cell.steps < 64 or cell.seed % 5 else 0.0
        returns = learned * rise + 0.1 * noise * generator.normal(size=len(samples))
        found[cell] = Curve(samples, tuple(map(float, returns)), 0)
    return found


def costs_of(grid: Grid, slow: float = 8.0) -> Costs:
    """An update of T = 64 takes `slow` times as long as one of T = 1, on a machine that hiccups."""
    generator = np.random.default_rng(1)
    return Costs(
        {
            (one.envs, one.steps): [
                0.001 * (1 + (slow - 1) * (one.steps - 1) / 63) * float(generator.uniform(1, 1.05))
                for _ in range(5)
            ]
            for one in grid.layouts
        }
    )


def failure() -> Failure:
    """Why a training failed, as the folder keeps it."""
    error = EnvError(
        "Traceback (most recent call last):\nValueError: own words\nenv 'x' raised ValueError",
        where="x",
        fix="fix the env",
    )
    return convert(error.as_dict(), Failure)


def summary(
    grid: Grid,
    curves: dict[Cell, Curve],
    failures: dict[Cell, Failure],
    *,
    costs: Costs | None = None,
    advice: bool = False,
) -> Data:
    """The data of the page of a sweep."""
    cells = CellCounts(done=len(curves), failed=len(failures), total=len(grid.cells))
    result = summarise(
        grid,
        curves,
        failures,
        costs=costs,
        advice=advice,
        cells=cells,
        versions={"nbyt": "0.1.0"},
        reproduce="nbyt sweep tabular:FrozenLake-v1 --batch 64",
        out="sweep",
        table="sweep/table.csv",
        report="sweep/report.html",
    )
    return plain(result)


def record(data: Data) -> Sweep:
    """The data as the page takes it."""
    return convert(data, Sweep)


def finished(grid: Grid, curves: dict[Cell, Curve], failed: Iterable[Cell] = ()) -> Data:
    """The data of the page of a sweep with everything in it that can be."""
    failures = {cell: failure() for cell in failed}
    kept = {cell: curve for cell, curve in curves.items() if cell not in failures}
    return summary(grid, kept, failures, costs=costs_of(grid), advice=True)


def with_holes() -> Data:
    """A sweep with failures, a layout with no seed, and the advice.

    The layout without a seed is no arm of a race; from one arm two seeds are missing.
    """
    grid = grid_of()
    failed = [cell for cell in grid.cells if cell.steps == 1]
    failed += [cell for cell in grid.cells if cell.steps == 2][:2]
    return finished(grid, curves_of(grid), failed)
