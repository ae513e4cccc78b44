"""The command: train every case with every seed, ask the rules, write the JSON.

python -m benchmarks.rules.run [--seeds N]

It can be stopped; the same command goes on with what is missing.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.rules.trainings import CASES, said
from benchmarks.timing.machine import machine

RESULT = Path(__file__).with_name("result.json")


def main() -> None:
    """Train what is not in the file yet, seed by seed, and write after each training."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    found = _kept()
    have = {(row["case"], row["seed"]) for row in found["trainings"]}
    for seed in range(options.seeds):
        for case in CASES:
            if (case.name, seed) in have:
                continue
            began = time.perf_counter()
            summary = said(case, seed)
            fired = sorted({one["rule"] for one in summary["findings"]})
            row = {"case": case.name, "fault": case.fault, "seed": seed, "fired": fired}
            row["seconds"] = round(time.perf_counter() - began, 1)
            found["trainings"].append(row)
            RESULT.write_text(json.dumps(found, indent=1) + "\n")
            print(f"{case.name}, seed {seed}: {', '.join(fired) or 'silent'}", flush=True)


def _kept() -> dict[str, Any]:
    if RESULT.exists():
        return json.loads(RESULT.read_text())
    return {"machine": machine(), "trainings": []}


if __name__ == "__main__":
    main()
