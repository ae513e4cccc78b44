"""What an update costs, and curves in samples turned into curves over a budget.

Objectives: `samples` (every layout sees the same samples), `parallel:c` (a vector step costs the
same for every N, so that an update costs T + c steps' time) and `measured` (this machine's seconds,
from costs.json). A budget is what a training with T = 32 costs for all samples of the task.
"""

import json
from pathlib import Path

import numpy as np

from benchmarks.proving.data import Cell
from nbyt.stats import race

REFERENCE = 32
OBJECTIVES = ("samples", "measured", "parallel:4", "parallel:16", "parallel:64")
# A curve over the budget has so many points after the untrained policy.
GRID = 40
COSTS = Path(__file__).with_name("costs.json")


def update_costs(cell: Cell, objective: str) -> np.ndarray:
    """What one update costs with each of the cell's T, in any unit."""
    steps = np.array(cell.steps, float)
    if objective == "samples":
        return np.ones(len(steps))
    if objective.startswith("parallel:"):
        return steps + float(objective.partition(":")[2])
    timed = json.loads(COSTS.read_text())[cell.env][str(cell.batch)]
    return np.array([timed[str(one)] for one in cell.steps])


def over_budget(cell: Cell, objective: str, curves: np.ndarray) -> np.ndarray:
    """The curves at GRID + 1 even moments of the budget, [layouts, seeds, moments].

    A layout that has seen all its samples before the budget is used up keeps its last return.
    """
    costs = update_costs(cell, objective)
    budget = costs[cell.steps.index(REFERENCE)] * cell.samples[cell.points]
    found = []
    for cost, rows in zip(costs, curves, strict=True):
        known = ~np.isnan(rows[0])
        found.append(race.over_budget(rows[:, known], cell.samples[known], cost, budget, GRID + 1))
    return np.array(found)


def scores(curves: np.ndarray, fraction: float = 1.0) -> np.ndarray:
    """The mean return over the first part of the budget, [layouts, seeds]."""
    last = round(GRID * fraction)
    part = curves[..., : last + 1]
    return ((part[..., 1:] + part[..., :-1]) / 2).mean(-1)
