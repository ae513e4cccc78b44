"""The command: draw and measure batches of every case, and put what the gate says in result.json.

python -m benchmarks.live.run [--batches 1000] [--seed 0] [--out FILE]
"""

import argparse
import json
import os
import time
from pathlib import Path

# One thread: the programs are small, and a second thread would only wait for the first.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.live.cases import cases
from benchmarks.live.coverage import covered
from benchmarks.live.section import RESULT
from benchmarks.timing.machine import machine
from nbyt.store.atomic import write_text
from nbyt.training import hardware

BATCHES = 1000


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(prog="benchmarks.live.run", description=__doc__)
    parser.add_argument("--batches", type=int, default=BATCHES, help="batches of each case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    hardware.prepare("cpu")
    found = {"seed": options.seed, "versions": machine()["versions"], "cases": []}
    for case in cases():
        began = time.perf_counter()
        found["cases"].append(covered(case, batches=options.batches, seed=options.seed))
        print(f"{case.words}: {time.perf_counter() - began:.0f} s", flush=True)
    write_text(options.out, json.dumps(found, indent=1) + "\n")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
