"""The command: speed against SB3, and what a mini-batch costs by the size of the buffer.

python -m benchmarks.dqn.run [--quick] [--only PART ...] [--out FILE]
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.dqn.sampling import sampling
from benchmarks.dqn.speed import speed
from benchmarks.timing.lines import text_table, with_interval
from benchmarks.timing.machine import machine
from benchmarks.timing.options import read_options

RESULT = Path(__file__).with_name("result.json")
_PARTS = ("speed", "sampling")


def main() -> None:
    """Measure, and write the JSON file, except in a quick trial without --out."""
    options = read_options("benchmarks.dqn.run", __doc__, _PARTS, RESULT)
    found: dict[str, Any] = {"quick": options.quick, "machine": machine()}
    found |= {"rounds": options.rounds, "round_seconds": options.seconds}
    if "speed" in options.only:
        lines = speed(rounds=options.rounds, seconds=options.seconds)
        found["speed"] = [line.as_dict() for line in lines]
        print(text_table(found["speed"]), flush=True)
    if "sampling" in options.only:
        found["sampling"] = sampling(rounds=options.rounds)
        for line in found["sampling"]:
            size = f"{line['buffer']} {line['sampling']:<10} {line['capacity']:>9,}"
            print(f"{size} {line['microseconds']:>8.1f} us {with_interval(line['ratio'])}")
    out = options.out or (None if options.quick or set(options.only) < set(_PARTS) else RESULT)
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
