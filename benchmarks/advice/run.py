"""The command: ask for advice again and again, and put what came out into result.json.

    python -m benchmarks.advice.run [--only opposite training tables times] [--seeds 100]

Every answer is kept in runs/advice-check as soon as it is there; the same command goes on.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.advice import opposite, tables, times, training
from benchmarks.timing.machine import machine
from nbyt.store.text import slug
from nbyt.train import hardware

RESULT = Path(__file__).with_name("result.json")
WORK = Path(__file__).parents[2] / "runs" / "advice-check"
_SEEDS = {"opposite": 10, "training": 6, "tables": 100, "times": 1}

Rows = list[dict[str, Any]]


def main() -> None:
    """Run the parts that were asked for and write result.json."""
    options = _options()
    hardware.prepare("cpu")
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    found["machine"] = machine()
    for part in options.only:
        found[part] = _PARTS[part](_SEEDS[part] if options.seeds is None else options.seeds)
        RESULT.write_text(json.dumps(found, indent=1) + "\n")
    print(f"written to {RESULT}")


def _tables(seeds: int) -> dict[str, Any]:
    found = {}
    for name, make in tables.CASES.items():
        control = make()
        rows = _rows(name, seeds, lambda seed, own=control: tables.advised(own, seed))
        found[name] = tables.judged(tables.exact_alignments(control), rows)
        print(name, {k: v for k, v in found[name].items() if k != "exact"}, flush=True)
    return found


def _opposite(seeds: int) -> dict[str, Any]:
    found = {}
    for env in opposite.KNOWN:
        rows = _rows(env, seeds, lambda seed, env=env: opposite.advised(env, seed))
        found[env] = {**opposite.judged(env, rows), "rows": rows}
        print(env, opposite.judged(env, rows), flush=True)
    return found


def _training(seeds: int) -> dict[str, Any]:
    found: dict[str, Any] = {"total": training.TOTAL, "envs": {}}
    for env in training.ENVS:
        own = found["envs"][env] = {}
        for steps in training.STEPS:
            rows = _rows(
                f"{env}-{steps}",
                seeds,
                lambda seed, at=(env, steps): training.trained(at[0], at[1], seed),
            )
            own[str(steps)] = training.summarised(rows)
            print(env, steps, own[str(steps)], flush=True)
    return found


def _rows(name: str, seeds: int, ask: Callable[[int], dict[str, Any]]) -> Rows:
    """The answers of all seeds; those that are kept are not asked for again."""
    WORK.mkdir(parents=True, exist_ok=True)
    file = WORK / f"{slug(name)}.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    known = {row["seed"] for row in rows}
    for seed in range(seeds):
        if seed not in known:
            rows.append(ask(seed))
            with file.open("a") as target:
                target.write(json.dumps(rows[-1]) + "\n")
    wanted = [row for row in rows if row["seed"] < seeds or not seeds]
    return sorted(wanted, key=lambda row: row["seed"])


def _times(_: int) -> Rows:
    times.timed(*times.ASKED[0])  # compiles
    found = []
    for env, effort in times.ASKED:
        found.append(times.timed(env, effort))
        print(found[-1], flush=True)
    return found


_PARTS: dict[str, Callable[[int], Any]] = {
    "opposite": _opposite,
    "training": _training,
    "tables": _tables,
    "times": _times,
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.advice.run", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=tuple(_SEEDS), default=tuple(_SEEDS))
    parser.add_argument("--seeds", type=int, help="seeds of each case; 0 for those that are kept")
    return parser.parse_args()


if __name__ == "__main__":
    main()
