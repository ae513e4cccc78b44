"""The command: train what is missing, judge every way of choosing, and write result.json.

    python -m benchmarks.proving.run [--quick] [--judge] [--keep-slow] [--sealed]

Trainings go to runs/proving as soon as they are done, then to cells.csv; the same command goes on.
--quick trains one small cell and judges with few replays, into runs/proving. --judge trains
nothing. --keep-slow leaves the rows of the slow rules as result.json has them; the page then says
so. --sealed also asks the rules about the sealed envs, which is done once, at the end.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.proving import train
from benchmarks.proving.answers import answers, staggers
from benchmarks.proving.calibration import Said, ask, calibration, powers
from benchmarks.proving.data import CELLS, Cell, read_cells
from benchmarks.proving.judge import REPLAYS, Bench, Row, difference, references_for, summary
from benchmarks.proving.profiles import COSTS, OBJECTIVES
from benchmarks.proving.replay import Ground, Learn
from benchmarks.proving.rules import FREE, PAID, PAIRED, RECORDED, SLOW
from benchmarks.proving.tasks import SEALED
from benchmarks.timing.machine import machine
from nbyt.rng import numpy_stream
from nbyt.stats.race import CALIBRATED_FROM, TRUER
from nbyt.store.atomic import write_text
from nbyt.training import hardware

RESULT = Path(__file__).with_name("result.json")
BUDGETS = (1, 2, 4, 8)
_QUICK = 10
# Replays of a cell in which the race is asked how sure it is.
_SAID = 20
# The cells of the main tables.
USUAL = "2048"
RACE = "race"
_LEAST_GAIN = 5.0


def main() -> None:
    """Train, judge, and write what was found."""
    options = _options()
    hardware.prepare("cpu")
    cells, result, work = CELLS, RESULT, train.WORK
    if options.quick:
        work = train.WORK / "quick"
        cells, result = work / "cells.csv", work / "result.json"
    if not options.judge and options.quick:
        _train(train.quick_blocks(), cells, work)
    elif not options.judge:
        _train(train.first_blocks(), cells, work)
        _train(train.more_blocks(_all_cells(cells)), cells, work)
    replays = _QUICK if options.quick else REPLAYS
    kept = json.loads(result.read_text()) if options.keep_slow else None
    found = {"machine": machine(), **judge(cells, replays, kept, sealed=options.sealed)}
    write_text(result, json.dumps(found, indent=1) + "\n")
    print(f"written to {result}")


def _train(blocks: Iterable[train.Block], cells: Path, work: Path) -> None:
    """Train every block that cells.csv lacks, and put it there."""
    known = {
        (cell.env, cell.batch, cell.stagger, steps, seed)
        for cell in _all_cells(cells)
        for steps in cell.steps
        for seed in cell.seeds
    }
    for block in blocks:
        cell = (block.task.env, block.batch, block.stagger, block.steps)
        if not {(*cell, seed) for seed in block.seeds} <= known:
            train.train(block, work)
            print(f"trained {block.file}", flush=True)
            hardware.forget_programs()
    train.gather(work, cells)


def _all_cells(cells: Path) -> list[Cell]:
    if not cells.exists():
        return []
    return [*read_cells(cells), *read_cells(cells, sealed=True)]


def judge(
    cells: Path, replays: int, kept: dict[str, Any] | None = None, *, sealed: bool
) -> dict[str, Any]:
    """Judge every rule on the development cells, and on the sealed ones if they are asked.

    kept: an earlier result, from which the rows of the slow rules are taken.
    """
    known, dropped = kept_cells(read_cells(cells))
    asked, gone = kept_cells(read_cells(cells, sealed=True)) if sealed else ([], [])
    objectives = [one for one in OBJECTIVES if one != "measured" or COSTS.exists()]
    work = partial(judge_objective, known, asked, replays, kept is None)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(work, objectives))
    result: dict[str, Any] = {
        "replays": replays,
        "sealed": list(SEALED),
        "dropped": dropped + gone,
        "cells": [_described(cell, objectives) for cell in known + asked],
    }
    said = [part.pop("said") for part in parts]
    of_sealed = [part.pop("said_sealed") for part in parts]
    result["power"] = powers([one for part in said for own in part.values() for one in own])[""]
    result["calibration"] = _calibration(said, objectives)
    if asked:
        as_shipped = dict.fromkeys(SEALED, TRUER)
        result["calibration_sealed"] = _calibration(of_sealed, objectives, as_shipped)
    result["answers"] = answers(known)
    result["stagger_sealed"] = staggers(asked)
    for name in ("rivals", "rivals_sealed", "oracle", "by_cell", "paired"):
        result[name] = _turned(objectives, [part[name] for part in parts])
    groups = sorted({group for part in parts for group in part["groups"]})
    result["groups"] = {
        group: _turned(objectives, [part["groups"].get(group, {}) for part in parts])
        for group in groups
    }
    if kept is not None:
        result["carried_over"] = list(SLOW)
        for name in ("rivals", "by_cell"):
            result[name] |= {slow: kept[name][slow] for slow in SLOW if slow in kept[name]}
    return result


class Question(NamedTuple):
    """A rule at a budget; slow ones get few replays and are asked about few cells."""

    name: str
    budget: int
    learn: Learn
    replays: int | None = None

    def about(self, bench: Bench) -> bool:
        """True if the rule can be asked about the cell."""
        cell, objective = bench.ground.cell, bench.ground.objective
        if self.replays is not None and _group(bench) != USUAL:
            return False
        return bool(getattr(self.learn, "knows", lambda *_: True)(cell, objective))


def judge_objective(
    known: Sequence[Cell], asked: Sequence[Cell], replays: int, slow: bool, objective: str
) -> dict[str, Any]:
    """Every rule at every budget under one objective, by rule and budget; slow ones if asked."""
    grounds = [Ground(cell, objective) for cell in known]
    benches = [Bench(one, replays) for one in grounds]
    sealed = [Bench(Ground(cell, objective), replays) for cell in asked]
    found: dict[str, Any] = {"rivals": {}, "rivals_sealed": {}, "groups": {}, "by_cell": {}}
    found["said"] = _said(benches, grounds)
    found["said_sealed"] = _said(sealed, grounds)
    of_race: dict[tuple[str, str], dict[Bench, Row]] = {}
    for question in questions(slow=slow):
        name, budget = question.name, str(question.budget)
        for where, into in ((benches, "rivals"), (sealed, "rivals_sealed")):
            rows = {
                bench: _asked(question, bench, grounds) for bench in where if question.about(bench)
            }
            if where is benches and name in (RACE, *PAIRED):
                of_race[name, budget] = rows
            for bench, row in rows.items():
                losses_of = found["by_cell"].setdefault(name, {}).setdefault(budget, {})
                losses_of[bench.ground.cell.name] = _r(row.losses.mean())
            for group, own in _groups(rows).items():
                place = found[into] if group == USUAL else found["groups"].setdefault(group, {})
                if group == USUAL or into == "rivals":
                    key = numpy_stream(0, f"bootstrap {name} {objective} {group}")
                    place.setdefault(name, {})[budget] = summary(own, key)
    found["paired"] = _paired(of_race, objective)
    key = numpy_stream(0, f"bootstrap oracle {objective}")
    found["oracle"] = {
        "oracle": {"0": summary([bench.oracle for bench in benches if _group(bench) == USUAL], key)}
    }
    return found


def _paired(
    rows: dict[tuple[str, str], dict[Bench, Row]], objective: str
) -> dict[str, dict[str, Any]]:
    """What other ways of the race lose more than the race in the same replays, by budget.

    usual: on the cells of the main table. all: on all development cells.
    """
    found: dict[str, dict[str, Any]] = {}
    for (name, budget), own in rows.items():
        if name == RACE:
            continue
        both = [(bench, row, rows[RACE, budget][bench]) for bench, row in own.items()]
        key = numpy_stream(0, f"bootstrap {name} against the race {objective}")
        found.setdefault(name, {})[budget] = {
            "usual": difference(
                [(row, race) for bench, row, race in both if _group(bench) == USUAL], key
            ),
            "all": difference([(row, race) for _, row, race in both], key),
        }
    return found


def _said(benches: Sequence[Bench], grounds: Sequence[Ground]) -> dict[int, list[Said]]:
    """What the race says at the budgets at which it states a probability, at B = 2,048."""
    usual = [
        one for one in benches if one.ground.cell.batch == 2048 and not one.ground.cell.stagger
    ]
    return {
        budget: [said for bench in usual for said in ask(bench, grounds, budget, _SAID)]
        for budget in BUDGETS
        if budget >= CALIBRATED_FROM
    }


def _calibration(
    parts: Sequence[dict[int, list[Said]]],
    objectives: Sequence[str],
    power: dict[str, float] | None = None,
) -> dict[str, dict[str, Any]]:
    """How often it came true, by kind of costs and budget.

    power: of each env; without it, the one that is fitted on the other envs.
    """
    kinds: dict[str, dict[int, list[Said]]] = {}
    for objective, part in zip(objectives, parts, strict=True):
        kind = kinds.setdefault(objective.partition(":")[0], {})
        for budget, said in part.items():
            kind.setdefault(budget, []).extend(said)
    every = [one for of in kinds.values() for own in of.values() for one in own]
    power = power or powers(every)
    return {
        kind: {str(budget): calibration(said, power) for budget, said in by_budget.items()}
        for kind, by_budget in kinds.items()
    }


def _group(bench: Bench) -> str:
    """Which table a cell belongs to; in one table every rule is asked about the same cells."""
    cell = bench.ground.cell
    return f"{cell.batch}{', staggered' if cell.stagger else ''}"


def _groups(rows: dict[Bench, Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for bench, row in rows.items():
        found.setdefault(_group(bench), []).append(row)
    return found


def _asked(question: Question, bench: Bench, grounds: Sequence[Ground]) -> Row:
    references = references_for(bench.ground.cell.env, grounds, bench.ground)
    return bench.run(question.name, question.learn, references, question.budget, question.replays)


def questions(*, slow: bool = True) -> list[Question]:
    """Every rule with the budgets at which it is asked."""
    free = [Question(name, 0, learn) for name, learn in FREE.items()]
    paid = [Question(name, b, learn) for name, learn in PAID.items() for b in BUDGETS]
    once = [Question(name, max(BUDGETS), learn) for name, learn in RECORDED.items()]
    long = [Question(name, b, *how) for name, how in SLOW.items() for b in BUDGETS]
    return free + paid + once + (long if slow else [])


def _turned(objectives: Sequence[str], parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Rule by objective by budget, from objective by rule by budget."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        name: {
            objective: part[name]
            for objective, part in zip(objectives, parts, strict=True)
            if name in part
        }
        for name in names
    }


def kept_cells(cells: Sequence[Cell]) -> tuple[list[Cell], list[dict[str, Any]]]:
    """The cells in which something was learnt at all, and the others with what was gained."""
    kept, dropped = [], []
    for cell in cells:
        scores = Ground(cell, "samples").scores - cell.untrained
        best = scores[scores.mean(1).argmax()]
        gain = float(best.mean() / (best.std(ddof=1) / np.sqrt(len(best))))
        if gain >= _LEAST_GAIN:
            kept.append(cell)
        else:
            dropped.append({"name": cell.name, "gain_in_standard_errors": round(gain, 2)})
    return kept, dropped


def _described(cell: Cell, objectives: Sequence[str]) -> dict[str, Any]:
    return {
        "name": cell.name,
        "env": cell.env,
        "batch": cell.batch,
        "stagger": cell.stagger,
        "sealed": cell.env in SEALED,
        "total": cell.total,
        "steps": list(cell.steps),
        "seeds": len(cell.seeds),
        "untrained": round(cell.untrained, 4),
        "losses": {one: _losses(Ground(cell, one)) for one in objectives},
    }


def _losses(ground: Ground) -> dict[str, Any]:
    """The loss of every T with the interval of its posterior, and its mean standard error."""
    drawn = ground.losses_drawn(range(len(ground.cell.seeds)))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    rows = zip(ground.losses, low, high, strict=True)
    return {
        "loss": [{"value": _r(v), "low": _r(min(a, v)), "high": _r(max(b, v))} for v, a, b in rows],
        "standard_error": _r(drawn.std(0).mean()),
    }


def _r(number: float) -> float:
    return round(float(number), 4)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.proving.run", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--keep-slow", action="store_true")
    parser.add_argument("--sealed", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
