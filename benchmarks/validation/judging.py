"""Everything that is known of a task, judged: plain numbers for result.json."""

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.validation import asks
from benchmarks.validation.cases import Case
from benchmarks.validation.judge import behind, iqm, lost, rank_correlation
from benchmarks.validation.sweeps import WORK, folder_of
from nbyt.collect.evaluate import play_seeds
from nbyt.rank.libraries import defaults
from nbyt.store.run import slug
from nbyt.sweep.grid import Grid
from nbyt.sweep.running import curves_of
from nbyt.train.ppo_course import beginning

# Whose defaults the advice has to stand beside; each by its T, as close as the sweep has one.
LIBRARIES = ("sb3", "cleanrl", "purejaxrl")


def judged(case: Case) -> dict[str, Any]:
    """The task's scores, what advice foretold of them, and what following it loses."""
    grid = case.grid()
    curves = curves_of(grid, folder_of(case, grid))
    steps = [layout.steps for layout in grid.layouts]
    table = [[curves[cell].returns for cell in grid.cells if cell.steps == t] for t in steps]
    scores = np.array(table).mean(axis=2)
    untrained = _untrained(grid)
    generator = np.random.default_rng(0)
    places = _library_places(grid)
    found: dict[str, Any] = {
        "env": case.env,
        "total": case.total,
        "settings": case.settings,
        "steps": steps,
        "untrained": untrained,
        "scores": [[round(float(one), 4) for one in row] for row in scores],
        "final": [[round(float(one), 4) for one in row] for row in np.array(table)[:, :, -1]],
        "best": steps[int(iqm(scores).argmax())],
        "defaults": {
            name: {"steps": steps[place], **lost(scores, untrained, [place], generator)}
            for name, place in places.items()
        },
        "advice": {},
        "auto": _auto(case, scores, untrained, places, generator),
        "costs": _kept(f"costs-{slug(case.name)}.json"),
    }
    for length in asks.LENGTHS:
        answers = [
            one
            for k in range(asks.SEEDS)
            if (one := _kept(f"{slug(case.name)}-advice-{length}/answer-{k}.json"))
        ]
        if answers:
            found["advice"][length] = _advice(answers, steps, scores, untrained, places, generator)
    return found


def _advice(
    answers: list[dict[str, Any]],
    steps: list[int],
    scores: np.ndarray,
    untrained: float,
    places: dict[str, int],
    generator: np.random.Generator,
) -> dict[str, Any]:
    own = [steps.index(one["steps"]) for one in answers]
    foretold = np.array(
        [[one["relative"][str(t)]["value"] for t in steps] for one in answers], float
    )
    best_default = max(places.values(), key=lambda place: float(iqm(scores)[place]))
    return {
        "steps": [one["steps"] for one in answers],
        "ties": [one["ties"] for one in answers],
        "relative": np.nan_to_num(foretold, nan=-1.0).round(4).tolist(),
        "correlation": rank_correlation(scores, np.nan_to_num(foretold, nan=-1.0), generator),
        "regret": lost(scores, untrained, own, generator),
        "behind_defaults": {
            name: behind(scores, untrained, own, place, generator) for name, place in places.items()
        },
        "behind_best_default": behind(scores, untrained, own, best_default, generator),
    }


def _auto(
    case: Case,
    scores: np.ndarray,
    untrained: float,
    places: dict[str, int],
    generator: np.random.Generator,
) -> dict[str, Any] | None:
    """The adaptive layout as one more row of the table."""
    rows = [_kept(f"{slug(case.name)}-auto/seed-{seed}.json") for seed in case.grid().seeds]
    rows = [row for row in rows if row]
    if len(rows) < 3:
        return None
    own = np.array([np.mean(row["returns"]) for row in rows])
    table = np.vstack([scores[:, : len(own)], own])
    last = len(table) - 1
    best_default = max(places.values(), key=lambda place: float(iqm(scores)[place]))
    return {
        "seeds": len(rows),
        "scores": [round(float(one), 4) for one in own],
        "regret": lost(table, untrained, [last], generator),
        "behind_defaults": {
            name: behind(table, untrained, [last], place, generator)
            for name, place in places.items()
        },
        "behind_best_default": behind(table, untrained, [last], best_default, generator),
        "probing_samples": max(row["probing"]["share_of_samples"] for row in rows),
        "probing_seconds": [row["probing"]["share_of_seconds"] for row in rows],
        "visited": [[change["to"] for change in row["changes"]] for row in rows],
    }


def _untrained(grid: Grid) -> float:
    """The mean return of the policies that all trainings begin with."""

    pairs = [beginning(grid.plan(cell), grid.env) for cell in grid.cells[: len(grid.seeds)]]
    params = jax.tree.map(lambda *rows: jnp.stack(rows), *[one.params for _, one in pairs])
    played = play_seeds(grid.env, pairs[0][0], params, grid.seeds).evaluations()
    return float(np.mean([one.returns.mean() for one in played]))


def _library_places(grid: Grid) -> dict[str, int]:
    splits = [(layout.envs, layout.steps) for layout in grid.layouts]
    known = {one["id"]: splits.index(tuple(one["placed_at"])) for one in defaults(splits)}
    return {name: known[name] for name in LIBRARIES if name in known}


def _kept(name: str) -> dict[str, Any] | None:
    path = WORK / name
    return json.loads(path.read_text()) if path.exists() else None
