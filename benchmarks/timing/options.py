"""The options of a benchmark's command: quick or whole, some parts or all, and where to."""

import argparse
from pathlib import Path


def read_options(
    program: str, about: str | None, parts: tuple[str, ...], result: Path
) -> argparse.Namespace:
    """What the command line asks for, with rounds and seconds of a round filled in."""
    parser = argparse.ArgumentParser(prog=program, description=about)
    parser.add_argument("--quick", action="store_true", help="two short rounds: does it all run?")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="these parts")
    parser.add_argument("--rounds", type=int, help="rounds of each measurement (7)")
    parser.add_argument("--out", type=Path, help=f"the JSON file ({result.name} beside this file)")
    options = parser.parse_args()
    options.rounds = options.rounds or (2 if options.quick else 7)
    options.seconds = 0.2 if options.quick else 1.0
    return options
