"""Everything that is known of a task, judged: plain numbers for result.json."""

import json
from itertools import product
from typing import Any

import numpy as np

from benchmarks.validation import asks
from benchmarks.validation.cases import Case
from benchmarks.validation.judge import behind, lost, rank_correlation
from benchmarks.validation.sweeps import WORK, folder_of
from benchmarks.validation.variants import STAGGERED, varied
from nbyt.advice.libraries import defaults
from nbyt.collect.device import mesh_for, spread
from nbyt.collect.evaluate import play_seeds
from nbyt.rng import numpy_stream
from nbyt.stats.runs import iqm, iqm_estimate
from nbyt.store.text import slug
from nbyt.sweep.grid import Grid
from nbyt.sweep.run import curves_of
from nbyt.train.algorithms.ppo import initial_learner

# Whose defaults the advice has to stand beside; each by its T, as close as the sweep has one.
LIBRARIES = ("sb3", "cleanrl", "purejaxrl")
_FEWEST = 3


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
    return {
        "env": case.env,
        "total": case.total,
        "settings": case.settings,
        "steps": steps,
        "untrained": untrained,
        "scores": [[round(float(one), 4) for one in row] for row in scores],
        "final": [[round(float(one), 4) for one in row] for row in np.array(table)[:, :, -1]],
        "iqm": [_iqm(row) for row in scores],
        "best": steps[int(iqm(scores).argmax())],
        "losses": [
            lost(scores, untrained, [place], generator)["naive"] for place in range(len(steps))
        ],
        "defaults": {
            name: {"steps": steps[place], **lost(scores, untrained, [place], generator)}
            for name, place in places.items()
        },
        "advice": _advice(case, steps, scores, untrained, places, generator),
        "auto": _auto(case, scores, untrained, places, generator),
        "varied": _varied(case),
        "staggered": _staggered(case, steps, untrained, generator),
        "costs": _kept(f"costs-{slug(case.name)}.json"),
    }


def _iqm(row: np.ndarray) -> dict[str, Any]:
    return iqm_estimate(row, numpy_stream(0, "validation")).as_dict()


def _advice(
    case: Case,
    steps: list[int],
    scores: np.ndarray,
    untrained: float,
    places: dict[str, int],
    generator: np.random.Generator,
) -> dict[str, Any]:
    """By stages and rule: what was advised, how it orders the layouts, what following it loses."""
    best_default = max(places.values(), key=lambda place: float(iqm(scores)[place]))
    found = {}
    for way, rule in product(asks.WAYS, asks.RULES):
        said = [one[rule] for one in asks.known(case, way)]
        if not said:
            continue
        own = [steps.index(one["steps"]) for one in said]
        shares = [[one["relative"][str(t)]["value"] for t in steps] for one in said]
        foretold = np.nan_to_num(np.array(shares, float), nan=-1.0)
        found[f"{way}, {rule}"] = {
            "steps": [one["steps"] for one in said],
            "ties": [one["ties"] for one in said],
            "win_share": [one["win_share"] for one in said],
            "relative": foretold.round(4).tolist(),
            "correlation": rank_correlation(scores, foretold, generator),
            "regret": lost(scores, untrained, own, generator),
            "behind_defaults": {
                name: behind(scores, untrained, own, place, generator)
                for name, place in places.items()
            },
            "behind_best_default": behind(scores, untrained, own, best_default, generator),
        }
    return found


def _auto(
    case: Case,
    scores: np.ndarray,
    untrained: float,
    places: dict[str, int],
    generator: np.random.Generator,
) -> dict[str, Any] | None:
    """The adaptive layout as one more row of the table."""
    name = f"{slug(case.name)}-auto"
    kept = [_kept(f"{name}/seed-{seed}.json") for seed in case.grid().seeds]
    rows = [row for row in kept if row]
    if len(rows) < _FEWEST:
        return None
    own = np.array([np.mean(row["returns"]) for row in rows])
    table = np.vstack([scores[:, : len(own)], own])
    last = len(table) - 1
    best_default = max(places.values(), key=lambda place: float(iqm(scores)[place]))
    return {
        "seeds": len(rows),
        "scores": [round(float(one), 4) for one in own],
        "iqm": _iqm(own),
        "regret": lost(table, untrained, [last], generator),
        "behind_best": behind(table, untrained, [last], int(iqm(scores).argmax()), generator),
        "behind_best_default": behind(table, untrained, [last], best_default, generator),
        "look_share": _kept(f"{name}/looks.json"),
        "changes": [[change["to"][1] for change in row["changes"]] for row in rows],
    }


def _varied(case: Case) -> dict[str, Any]:
    return {
        change: {steps: _iqm(np.array(row)) for steps, row in scores.items()}
        for change, scores in varied(case).items()
    }


def _staggered(
    case: Case, steps: list[int], untrained: float, generator: np.random.Generator
) -> dict[str, Any] | None:
    """What is lost where envs start staggered, as the chains do that the advice is measured on."""
    known = varied(case).get(STAGGERED, {})
    if len(known) < len(steps):
        return None
    scores = np.array([known[str(t)] for t in steps])
    said = {
        f"{way}, {rule}": [steps.index(one[rule]["steps"]) for one in asks.known(case, way)]
        for way, rule in product(asks.WAYS, asks.RULES)
    }
    return {
        "iqm": [_iqm(row) for row in scores],
        "best": steps[int(iqm(scores).argmax())],
        "losses": [
            lost(scores, untrained, [place], generator)["naive"] for place in range(len(steps))
        ],
        "advice": {
            rule: {"regret": lost(scores, untrained, own, generator)}
            for rule, own in said.items()
            if own
        },
    }


def _untrained(grid: Grid) -> float:
    """The mean return of the policies that all trainings begin with."""
    pairs = [initial_learner(grid.plan(cell), grid.env) for cell in grid.cells[: len(grid.seeds)]]
    mesh = mesh_for(len(pairs))
    params = spread([one.params for _, one in pairs], mesh)
    played = play_seeds(grid.env, pairs[0][0], grid.seeds, mesh)(params).evaluations()
    return float(np.mean([one.returns.mean() for one in played[: len(pairs)]]))


def _library_places(grid: Grid) -> dict[str, int]:
    splits = [(layout.envs, layout.steps) for layout in grid.layouts]
    known = {one["id"]: splits.index(tuple(one["placed_at"])) for one in defaults(splits)}
    return {name: known[name] for name in LIBRARIES if name in known}


def _kept(name: str) -> Any:
    path = WORK / name
    return json.loads(path.read_text()) if path.exists() else None
