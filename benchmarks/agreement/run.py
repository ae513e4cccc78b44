"""The command: measure both sides, print the table, write the JSON.

python -m benchmarks.agreement.run [--quick] [--out FILE]

Exits with 1 where the two sides do not agree.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.agreement.compare import BATCH, SIZES, Row, compared
from benchmarks.agreement.cosines import cosines
from benchmarks.agreement.stages import CARTPOLE, PENDULUM, trained
from benchmarks.timing.machine import machine

RESULT = Path(__file__).with_name("result.json")
WORST, FAR, FAR_SHARE = 4.0, 2.0, 0.10
_SEED = 1


def main() -> int:
    """The exit code; the JSON file is then written, except by a quick trial without --out."""
    options = _options()
    count, chains = (4, 16) if options.quick else (64, 128)
    began = time.monotonic()
    found: dict[str, Any] = {"quick": options.quick, "machine": machine(), "batch": BATCH}
    found |= {"replicates": {steps: size * count for steps, size in SIZES.items()}}
    found |= {"chains": chains, "advantages": "raw"}
    rows: list[Row] = []
    for task in (CARTPOLE, PENDULUM):
        some = compared(task.env, trained(task), count=count, chains=chains, seed=_SEED)
        print("\n".join(_line(row) for row in some), flush=True)
        rows += some
    found["tasks"] = {task.env: task.command for task in (CARTPOLE, PENDULUM)}
    found["rows"] = [row.as_dict() for row in rows]
    found["verdict"] = _verdict(rows)
    found["cosines"] = cosines(CARTPOLE, range(1 if options.quick else 5), chains)
    found["wall_seconds"] = time.monotonic() - began
    print(found["verdict"])
    out = options.out or (None if options.quick else RESULT)
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n")
        print(f"written to {out}")
    return 0 if found["verdict"]["agrees"] else 1


def _verdict(rows: list[Row]) -> dict[str, Any]:
    sizes = [abs(row.z) for row in rows]
    share = sum(size > FAR for size in sizes) / len(sizes)
    return {
        "numbers": len(rows),
        "largest": max(sizes),
        "share_above_2": share,
        "root_mean_square": (sum(size**2 for size in sizes) / len(sizes)) ** 0.5,
        "agrees": max(sizes) < WORST and share <= FAR_SHARE,
    }


def _line(row: Row) -> str:
    sides = "  ".join(f"{side.value:12.5g} +- {side.error:9.2g}" for side in (row.probe, row.brute))
    return f"{row.env:12} {row.steps:4} {row.gradient:7} {row.number:19} {sides}  z {row.z:+.2f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.agreement.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few replicates: does it all run?")
    parser.add_argument("--out", type=Path, help=f"the JSON file ({RESULT.name} beside this file)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
