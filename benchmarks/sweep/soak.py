"""The driver of a sweep is killed at random moments, and the same command goes on every time.

    python -m benchmarks.sweep.soak [--kills 20] [--seed 0]

After every kill: which cells are there, whether each is to the byte that of a sweep that nobody
disturbed, and how long its workers outlived it. In the end: whether the table is the same.
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sweep.processes import Family
from benchmarks.timing.machine import machine
from nbyt.store.sweep import TABLE

RESULT = Path(__file__).with_name("soak.json")
SWEEP = "sweep gym:FrozenLake-v1 --batch 32 --layouts 4x8,8x4 --total 256 --minibatch 16 --epochs 2"
SWEEP += " --network table --learning-rate 0.3 --no-advice --quiet"
SEEDS = 40
ORPHANS = 10.0


def main() -> None:
    """Nothing; soak.json then holds what every kill left behind."""
    parser = argparse.ArgumentParser(prog="benchmarks.sweep.soak", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        found = soak(Path(place), options.kills, options.seed)
    RESULT.write_text(json.dumps({"machine": machine(), **found}, indent=1) + "\n")
    print(json.dumps({name: found[name] for name in found if name != "struck"}))


def soak(place: Path, kills: int, seed: int) -> dict[str, Any]:
    """What was found: a line for each kill, and the end."""
    undisturbed, folder = place / "undisturbed", place / "sweep"
    began = time.monotonic()
    begun(undisturbed).wait()
    told, whole = cells(undisturbed), time.monotonic() - began
    # From its first lines on; a sweep that goes on may be over before the moment comes.
    moments = np.random.default_rng(seed).uniform(0.5, 0.8 * whole, 10 * kills)
    struck: list[dict[str, Any]] = []
    for moment in moments:
        if len(struck) == kills:
            break
        line = _strike(folder, float(moment), told)
        if line is None:  # it was over before; another sweep is begun
            shutil.rmtree(folder)
            continue
        struck.append(line)
        print(line, flush=True)
    ended = begun(folder).wait()
    tables = [(one / TABLE).read_bytes() for one in (undisturbed, folder)]
    return {
        "command": f"nbyt {SWEEP} --seeds {SEEDS}",
        "seed": seed,
        "cells": len(told),
        "undisturbed_seconds": round(whole, 1),
        "kills": len(struck),
        "intact_each_time": all(line["intact"] for line in struck),
        "longest_orphan_seconds": max(line["orphan_seconds"] for line in struck),
        "ended": ended,
        "same_table": tables[0] == tables[1],
        "struck": struck,
    }


def begun(folder: Path, family: Family | None = None) -> subprocess.Popen:
    """The command, under way."""
    words = [sys.executable, "-m", "nbyt.cli.main", *SWEEP.split(), "--seeds", str(SEEDS)]
    surroundings = (family or Family()).environment
    return subprocess.Popen(
        [*words, "--out", str(folder)], env=surroundings, stdout=subprocess.DEVNULL
    )


def cells(folder: Path) -> dict[str, bytes]:
    """The files of the cells that are done."""
    return {path.name: path.read_bytes() for path in folder.glob("cell-*.json")}


def _strike(folder: Path, moment: float, told: dict[str, bytes]) -> dict[str, Any] | None:
    """What a kill at this moment left behind; None where there was nobody left to kill."""
    family = Family()
    driver = begun(folder, family)
    time.sleep(moment)
    if driver.poll() is not None:
        return None
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    outlived = family.seconds_until_gone(ORPHANS)
    kept = cells(folder)
    return {
        "moment": round(moment, 2),
        "cells": len(kept),
        "intact": kept.items() <= told.items(),
        "orphan_seconds": float("inf") if outlived is None else round(outlived, 2),
    }


if __name__ == "__main__":
    main()
