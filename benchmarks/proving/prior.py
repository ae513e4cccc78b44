"""Write the reference tasks that nbyt ships: src/nbyt/prior.json.

    python -m benchmarks.proving.prior

Only development envs are in it, with envs started together. The track record is that of the sealed
envs in result.json, which nothing was learnt from; until they are asked, that of the development
envs, each left out in turn.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.proving.data import Cell, read_cells
from benchmarks.proving.tasks import SEALED
from nbyt.results import plain
from nbyt.results.prior import Loss, Prior, ReferenceTask, StaggerGain, TrackRecord
from nbyt.store.atomic import write_text

PRIOR = Path(__file__).parents[2] / "src" / "nbyt" / "prior.json"
RESULT = Path(__file__).with_name("result.json")
VERSION = "2026-11-19"
_COSTS = {"samples": "samples", "measured": "measured", "parallel": "parallel:16"}
_SEARCHES = ("random, best of k", "grid, argmax", "grid, smoothed", "successive halving")
_SEARCHES += ("Hyperband", "Optuna TPE, median pruner", "Optuna TPE, Hyperband pruner")
_SEARCHES += ("Optuna GP, median pruner",)


def task_of(cell: Cell) -> ReferenceTask:
    """Return a cell as a reference task."""
    gains = cell.returns - cell.untrained
    mean, sd = gains.mean(1), gains.std(1, ddof=1)
    return ReferenceTask(
        env=cell.env,
        batch=cell.batch,
        total=int(cell.samples[cell.points]),
        seeds=len(cell.seeds),
        steps=cell.steps,
        samples=tuple(int(one) for one in cell.samples),
        mean=_rows(mean),
        sd=_rows(sd),
    )


def prior(cells: list[Cell], result: dict[str, Any] | None) -> Prior:
    """Return all that is shipped."""
    tasks = tuple(task_of(cell) for cell in cells if not cell.stagger and cell.env not in SEALED)
    found = result or {}
    return Prior(
        version=VERSION, tasks=tasks, record=track_records(found), stagger=stagger_gains(found)
    )


def stagger_gains(result: dict[str, Any]) -> tuple[StaggerGain, ...]:
    """Return what staggered starts win on the development envs, by costs and T."""
    answers = result.get("answers", {}).get("stagger") or {}
    return tuple(
        StaggerGain(costs=costs, steps=int(steps), tasks=of["envs"], won=_loss(won))
        for costs, objective in _COSTS.items()
        if (of := answers.get(objective))
        for steps, won in of["won"].items()
    )


def track_records(result: dict[str, Any]) -> tuple[TrackRecord, ...]:
    """Return what the race lost, by costs and budget."""
    sealed = bool(result.get("rivals_sealed"))
    ways = result.get("rivals_sealed" if sealed else "rivals", {})
    found = []
    for costs, objective in _COSTS.items():
        for budget, row in ways.get("race", {}).get(objective, {}).items():
            searches = {
                name: ways[name][objective][budget]["loss"]
                for name in _SEARCHES
                if budget in ways.get(name, {}).get(objective, {})
            }
            best = min(searches, key=lambda name: searches[name]["value"])
            found.append(
                TrackRecord(
                    costs=costs,
                    trainings=int(budget),
                    tasks=row["envs"],
                    sealed=sealed,
                    race=_loss(row["loss"]),
                    constant=_loss(ways["constant"][objective]["0"]["loss"]),
                    search=best,
                    search_loss=_loss(searches[best]),
                )
            )
    return tuple(found)


def _loss(numbers: dict[str, float]) -> Loss:
    return Loss(**{name: round(float(numbers[name]), 4) for name in ("value", "low", "high")})


def _rows(table: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(f"{x:.4g}") for x in row[np.isfinite(row)]) for row in table)


def main() -> None:
    """Write the file."""
    result = json.loads(RESULT.read_text()) if RESULT.exists() else None
    text = json.dumps(plain(prior(read_cells(), result)), separators=(",", ":"))
    write_text(PRIOR, text + "\n")
    print(f"written to {PRIOR}: {len(text):,} characters")


if __name__ == "__main__":
    main()
