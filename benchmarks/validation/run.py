"""The command: sweep every task, ask for advice, and judge.

    python -m benchmarks.validation.run [--only PART ...] [--tasks CartPole-v1 ...]

Parts: sweeps, asks, variants, costs; none for judging alone.

Every training and every answer is kept in runs/validation as soon as it is there; the same command
goes on. What is there is judged and put into result.json.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.timing.machine import machine
from benchmarks.validation import asks, costs, sweeps, variants
from benchmarks.validation.cases import CASES, Case
from benchmarks.validation.judging import judged
from nbyt.train import hardware

RESULT = Path(__file__).with_name("result.json")
_PARTS = ("sweeps", "asks", "variants", "costs")


def main() -> None:
    """Judge every task and write result.json."""
    options = _options()
    hardware.prepare("cpu")
    cases = [case for case in CASES if not options.tasks or case.name in options.tasks]
    for part in options.only:
        for case in cases:
            _do(part, case)
    known = json.loads(RESULT.read_text())["tasks"] if RESULT.exists() else {}
    tasks = {case.name: judged(case) for case in cases}
    found = {"machine": machine(), "tasks": {**known, **tasks}}
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    print(f"written to {RESULT}")


def _do(part: str, case: Case) -> Any:
    if part == "sweeps":
        return sweeps.trained(case)
    if part == "asks":
        return [asks.asked(case, seed, way) for way in asks.WAYS for seed in range(asks.SEEDS)]
    if part == "variants":
        return variants.train_varied(case)
    return costs.timed(case)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.validation.run", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=_PARTS, default=_PARTS)
    parser.add_argument("--tasks", nargs="*", default=())
    return parser.parse_args()


if __name__ == "__main__":
    main()
