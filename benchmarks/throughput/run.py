"""The command: measure everything, print the tables, write the JSON.

python -m benchmarks.throughput.run [--quick] [--only PART ...] [--out FILE]
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.throughput.memory import memory
from benchmarks.throughput.raw import raw
from benchmarks.throughput.start import start
from benchmarks.throughput.training import device, host
from benchmarks.timing.lines import Line, text_table
from benchmarks.timing.machine import machine
from benchmarks.timing.options import read_options

RESULT = Path(__file__).with_name("result.json")
_COMPARED: dict[str, Callable[..., list[Line]]] = {"device": device, "host": host, "raw": raw}
_PARTS = (*_COMPARED, "start", "memory")


def main() -> None:
    """Measure, and write the JSON file, except in a quick trial without --out."""
    options = read_options("benchmarks.throughput.run", __doc__, _PARTS, RESULT)
    found: dict[str, Any] = {"quick": options.quick, "machine": machine()}
    found |= {"rounds": options.rounds, "round_seconds": options.seconds}
    for part in options.only:
        found[part] = _measure(part, options)
        _show(part, found[part])
    out = options.out or (None if options.quick or set(options.only) < set(_PARTS) else RESULT)
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n")
        print(f"\nwritten to {out}")


def _measure(part: str, options: argparse.Namespace) -> Any:
    if part == "start":
        return start(times=1 if options.quick else 3)
    if part == "memory":
        return memory()
    lines = _COMPARED[part](rounds=options.rounds, seconds=options.seconds)
    return [line.as_dict() for line in lines]


def _show(part: str, found: Any) -> None:
    print(f"\n{part}")
    if part in _COMPARED:
        print(text_table(found))
    elif part == "start":
        for kind, facts in found.items():
            taken = ", ".join(f"{value:.1f}" for value in facts["seconds"])
            print(f"{kind}: first update after {taken} s; target {_goal(facts)} s")
    else:
        print(f"peak {found['peak_gb']:.2f} GB; target {_goal(found)} GB")
    print(end="", flush=True)


def _goal(facts: dict[str, Any]) -> str:
    return f"{'reached' if facts['reached'] else 'NOT reached'}: < {facts['target']:g}"


if __name__ == "__main__":
    main()
