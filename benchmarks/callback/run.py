"""The command: measure every task, print a line for each, write the JSON.

python -m benchmarks.callback.run [--quick] [--only PART ...] [--rounds ROUNDS] [--out FILE]
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.callback.overhead import EVERY, TURN, overhead
from benchmarks.callback.section import ratio_in_words
from benchmarks.callback.training import TASKS, Task
from benchmarks.timing.machine import machine
from benchmarks.timing.options import read_options

RESULT = Path(__file__).with_name("result.json")


def _name(task: Task) -> str:
    return f"{task.env}-{task.envs}x{task.steps}"


_PARTS = {_name(task): task for task in TASKS}


def main() -> None:
    """Measure, and write the JSON file, except in a quick trial without --out."""
    options = read_options("benchmarks.callback.run", __doc__, tuple(_PARTS), RESULT)
    found: dict[str, Any] = {"quick": options.quick, "machine": machine()}
    found |= {"rounds": options.rounds, "every": EVERY, "turn": TURN, "tasks": []}
    for part in options.only:
        line = overhead(_PARTS[part], rounds=options.rounds)
        found["tasks"].append(line)
        goal = f"target {line['target']:.2f}: {'yes' if line['reached'] else 'NO'}"
        probe = f"a probe {line['probe']['value']:.3f} s"
        print(f"{part}: {ratio_in_words(line['ratio'])}, {goal}, {probe}", flush=True)
    out = options.out or (None if options.quick or set(options.only) < set(_PARTS) else RESULT)
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n")
        print(f"\nwritten to {out}")


if __name__ == "__main__":
    main()
