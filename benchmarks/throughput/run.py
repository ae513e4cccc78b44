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

RESULT = Path(__file__).with_name("result.json")
_COMPARED: dict[str, Callable[..., list[Line]]] = {"device": device, "host": host, "raw": raw}
_PARTS = (*_COMPARED, "start", "memory")


def main() -> None:
    """Nothing; the JSON file is then written, except by a quick trial without --out."""
    options = _options()
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


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.throughput.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two short rounds: does it all run?")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="these parts")
    parser.add_argument("--rounds", type=int, help="rounds of each measurement (7)")
    parser.add_argument("--out", type=Path, help=f"the JSON file ({RESULT.name} beside this file)")
    options = parser.parse_args()
    options.rounds = options.rounds or (2 if options.quick else 7)
    options.seconds = 0.2 if options.quick else 1.0
    return options


if __name__ == "__main__":
    main()
