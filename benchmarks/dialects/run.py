"""The command: run every library, count, compare, write the JSON.

python -m benchmarks.dialects.run [--only LIBRARY ...] [--out FILE]

Exits with 1 where a count differs from what `explain` says, or where fewer than eight libraries
could be run.
"""

import argparse
import importlib
import json
import logging
import sys
import time
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.dialects import cases
from benchmarks.dialects.counted import Row, compared
from nbyt.dialects import load

RESULT = Path(__file__).with_name("result.json")
FEWEST = 8
# Each: the module that counts, its settings, and the package whose version is reported.
PEERS = {
    "sb3": ("baselines", cases.BASELINES, "stable-baselines3"),
    "sbx": ("baselines", cases.BASELINES, "sbx-rl"),
    "rejax": ("rejax_peer", cases.REJAX, "rejax"),
    "skrl": ("skrl_peer", cases.SKRL, "skrl"),
    "tianshou": ("tianshou_peer", cases.TIANSHOU, "tianshou"),
    "cleanrl": ("cleanrl_style", cases.CLEANRL, "torch"),
    "rsl_rl": ("rsl_rl_peer", cases.RSL_RL, "rsl-rl-lib"),
    "brax": ("brax_peer", cases.BRAX, "brax"),
    "torchrl": ("torchrl_peer", cases.TORCHRL, "torchrl"),
}


def main() -> int:
    """The exit code; the JSON file is then written, unless only some libraries were asked for."""
    options = _options()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    began, rows, versions = time.monotonic(), list[Row](), dict[str, str]()
    missing = [name for name in options.only or PEERS if not _is_there(PEERS[name][2])]
    for name in options.only or PEERS:
        if name in missing:
            print(f"{name}: not installed", flush=True)
            continue
        versions[name] = _version(name)
        rows += _run(name)
    agree = all(row.agrees for row in rows) and (options.only or len(versions) >= FEWEST)
    found = {
        "versions": versions,
        "missing": missing,
        "settings": len(rows),
        "agreements": sum(row.agrees for row in rows),
        "wall_seconds": round(time.monotonic() - began, 1),
        "rows": [row.as_dict() for row in rows],
    }
    out = options.out or (None if options.only else RESULT)
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{found['agreements']} of {len(rows)} settings agree, {', '.join(versions)}")
    return 0 if agree else 1


def _run(name: str) -> list[Row]:
    """Every setting of one library."""
    module, settings, _ = PEERS[name]
    count = getattr(importlib.import_module(f"benchmarks.dialects.{module}"), name)
    rows = []
    for given in settings:
        row = compared(name, given, count(given))
        print(_line(row), flush=True)
        rows.append(row)
    return rows


def _line(row: Row) -> str:
    words = " ".join(f"{key}={value}" for key, value in row.settings.items())
    seen: dict[str, Any] = row.seen
    what = "refused" if seen["refused"] else f"{seen['updates']} x {seen['sizes_of_an_update']}"
    verdict = "agrees" if row.agrees else f"DIFFERS from {row.said}"
    return f"{row.library:9} {words}: {what} {verdict}"


def _version(name: str) -> str:
    """The version that is run; a script has the version in whose style it is written."""
    module, _, package = PEERS[name]
    return load(name).version if module == "cleanrl_style" else metadata.version(package)


def _is_there(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.dialects.run", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PEERS, help="these libraries only")
    parser.add_argument("--out", type=Path, help=f"the JSON file ({RESULT.name} beside this file)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
