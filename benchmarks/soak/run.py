"""The soak: all parts, one after the other; each is kept when it is done.

    python -m benchmarks.soak.run [--only kills] [--again] [--kills 20]

Stopped, the same command goes on with the parts that are missing. --again begins anew.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.soak import disk, kills, many
from benchmarks.timing.machine import machine
from nbyt.store.atomic import write_text

RESULT = Path(__file__).with_name("soak.json")
# Modules that print what they found as JSON, and how much of it is wanted.
_MODULES = {
    "hostile_envs": [],
    "mutations": ["--count", "100"],
    "settings": ["--count", "5000"],
}
Part = dict[str, Any]


def parts() -> dict[str, Callable[[], Part]]:
    """Return what is done, by name."""
    found: dict[str, Callable[[], Part]] = {"disk": disk.soak, "many": many.soak}
    for name, words in _MODULES.items():
        if find_spec(f"benchmarks.soak.{name}"):
            found[name] = partial(_printed, name, words)
    return found


def _printed(name: str, words: list[str]) -> Part:
    """Return what a module prints; its exit code says no more than that."""
    command = [sys.executable, "-m", f"benchmarks.soak.{name}", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def soak(only: str = "", times: int = 20) -> None:
    """Do what is missing, or the one part that is named; times: kills of each command."""
    for name in ["kills", *parts()]:
        if only not in ("", name) or (not only and _known().get(name, {}).get("done")):
            continue
        print(f"--- {name}", flush=True)
        began = time.monotonic()
        found = _kills(only, times) if name == "kills" else parts()[name]()
        minutes = round((time.monotonic() - began) / 60, 1)
        facts = {"done": True, "minutes": minutes, "machine": machine(), "apart": bool(only)}
        _keep(name, {**found, **facts})


def _kills(only: str, times: int) -> Part:
    known = {} if only else _known().get("kills", {})
    cases = known.get("cases", [])
    return kills.soak(times, known=cases, keep=lambda found: _keep("kills", found))


def _known() -> dict[str, Part]:
    return json.loads(RESULT.read_text()) if RESULT.exists() else {}


def _keep(name: str, found: Part) -> None:
    write_text(RESULT, json.dumps({**_known(), name: found}, indent=1) + "\n")


def faults(found: dict[str, Part]) -> list[str]:
    """List every fault of every part."""
    return [line for part in found.values() for line in _faults(part)]


def _faults(tree: Any) -> list[str]:
    """Collect what stands under "faults", wherever that is."""
    if isinstance(tree, dict):
        own = [str(one) for one in tree.get("faults", [])]
        return own + [line for value in tree.values() for line in _faults(value)]
    return [line for value in tree for line in _faults(value)] if isinstance(tree, list) else []


def main() -> None:
    """Do the soak, and print what was found."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak.run", description=__doc__)
    parser.add_argument("--only", default="", choices=["", "kills", *parts()])
    parser.add_argument("--again", action="store_true", help="begin anew")
    parser.add_argument("--kills", type=int, default=20, help="of each command, by SIGKILL")
    options = parser.parse_args()
    if options.again:
        RESULT.unlink(missing_ok=True)
    soak(options.only, options.kills)
    found = _known()
    for name, part in found.items():
        print(f"{name}: {len(_faults(part))} faults")
    for line in faults(found):
        print(f"FAULT {line}")


if __name__ == "__main__":
    main()
