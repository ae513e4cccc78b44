"""The command: measure everything, print it, write the JSON.

python -m benchmarks.probe.run [--quick] [--only PART ...] [--out FILE]
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.probe.command import command
from benchmarks.probe.costs import cells
from benchmarks.probe.equal_width import equal_width
from benchmarks.probe.fragments import fragments
from benchmarks.probe.memory import memory
from benchmarks.probe.norms import norms
from benchmarks.timing.lines import text_table
from benchmarks.timing.machine import machine
from benchmarks.timing.options import read_options

RESULT = Path(__file__).with_name("result.json")
# Memory first: a child's peak counts from the size of the process that starts it.
_PARTS = ("memory", "norms", "fragments", "width", "command")


def main() -> None:
    """Measure, and write the JSON file, except in a quick trial without --out.

    Parts that are not measured now stay in it as they were.
    """
    options = read_options("benchmarks.probe.run", __doc__, _PARTS, RESULT)
    out = options.out or (None if options.quick else RESULT)
    found: dict[str, Any] = json.loads(out.read_text()) if out and out.exists() else {}
    found |= {"quick": options.quick, "machine": machine()}
    found |= {"rounds": options.rounds, "round_seconds": options.seconds}
    for part in options.only:
        print(f"\n{part}", flush=True)
        found[part] = _measure(part, options)
        _show(part, found[part])
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n")
        print(f"\nwritten to {out}")


def _measure(part: str, options: argparse.Namespace) -> Any:
    timed = {"rounds": options.rounds, "seconds": options.seconds}
    if part == "norms":
        return norms(**timed)
    if part == "fragments":
        return fragments(**timed)
    if part == "width":
        return equal_width(rounds=options.rounds, quick=options.quick)
    if part == "command":
        return command(times=1 if options.quick else 3)
    return memory(quick=options.quick)


def _show(part: str, found: Any) -> None:
    if part == "norms":
        print(text_table(found["lines"]))
    for one in found["costs"] if part == "norms" else found if part == "fragments" else ():
        print(", ".join(cells(one)))
    if part == "width":
        for way, one in found["ratios"].items():
            print(f"brute force {way}: {one['ratio']['value']:.1f} times as long; {one['reached']}")
    if part == "command":
        print(f"{found['cold']:.1f} s at first, then {found['median']:.1f} s")
    print(end="", flush=True)


if __name__ == "__main__":
    main()
