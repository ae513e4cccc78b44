"""A sweep of 500 trainings, sweeps side by side, and two commands that want one folder.

python -m benchmarks.soak.many [--cells 500]
"""

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.soak.cases import CASES, Case, contents, damages, leftovers
from benchmarks.soak.subject import LAUNCH, Subject, measure_undisturbed, wait
from benchmarks.sweep.processes import Family

_CELLS = "--batch 32 --layouts 4x8,8x4 --total 128 --minibatch 16 --epochs 2 --no-advice"
_CELLS += " --network table --learning-rate 0.3"
_EVERY = 0.25  # seconds between two looks at the driver
_ROUNDS = 4
_CONTENDERS = ("train, device env", "train, host env", "advise", "sweep, host env")
_REFUSED = "another nbyt command is at work"


def soak(cells: int = 500) -> dict[str, Any]:
    """Do all three."""
    with tempfile.TemporaryDirectory() as place:
        return {
            "large": [
                large_sweep(kind, cells, Path(place) / f"large-{kind}")
                for kind in ("tabular", "gym")
            ],
            "side_by_side": side_by_side(Path(place) / "beside"),
            "one_folder": [
                one_folder(case, Path(place) / f"one-{number}")
                for number, case in enumerate(CASES)
                if case.name in _CONTENDERS
            ],
        }


def large_sweep(kind: str, cells: int, place: Path) -> dict[str, Any]:
    """Watch the driver of a sweep of so many trainings, then give the same command again."""
    place.mkdir(parents=True)
    case = Case("large", f"sweep {kind}:FrozenLake-v1 {_CELLS} --seeds {cells // 2}")
    subject = Subject(case, place)
    family, began = Family(), time.monotonic()
    driver = subject.start("nbyt.cli.main", case.command(subject.out), family)
    looks = _watch(driver, subject.out)
    seconds = time.monotonic() - began
    code = driver.wait()
    gone = family.seconds_until_gone(10)
    began = time.monotonic()
    again = wait(subject.start("nbyt.cli.main", case.command(subject.out), family))
    found = {
        "env": f"{kind}:FrozenLake-v1",
        "cells": cells,
        "code": code,
        "seconds": round(seconds, 1),
        "again_code": again,
        "again_seconds": round(time.monotonic() - began, 1),
        **_growth(looks, cells),
        "faults": [],
    }
    kept = len(list(subject.out.glob("cell-*.json")))
    if (code, again, kept) != (0, 0, cells) or gone is None:
        found["faults"] = [f"{kept} cells, exit codes {code} and {again}: {subject.said()[-500:]}"]
    found["faults"] += damages(subject.out) + leftovers(subject.out)
    return found


def _watch(driver: subprocess.Popen[bytes], out: Path) -> list[dict[str, float]]:
    """Look at the driver again and again: time, cells, memory, descriptors, threads."""
    looks, seen = [], psutil.Process(driver.pid)
    while driver.poll() is None:
        try:
            with seen.oneshot():
                look = {"memory": seen.memory_info().rss, "descriptors": seen.num_fds()}
                look["threads"] = seen.num_threads()
        except psutil.Error:
            break
        cells = len(list(out.glob("cell-*.json"))) if out.exists() else 0
        looks.append({"time": time.monotonic(), "cells": cells, **look})
        time.sleep(_EVERY)
    return looks


def _growth(looks: list[dict[str, float]], cells: int) -> dict[str, Any]:
    """Compare the first and the second half of the cells."""
    under_way = [look for look in looks if look["cells"] > 0]
    quarters = [
        next((look for look in under_way if look["cells"] >= share * cells), under_way[-1])
        for share in (0.1, 0.5, 0.95)
    ]
    first, middle, last = quarters
    pace = [
        (after["time"] - before["time"]) / max(1, after["cells"] - before["cells"])
        for before, after in ((first, middle), (middle, last))
    ]
    return {
        "seconds_a_cell": [round(one, 4) for one in pace],
        "memory_mb": [round(look["memory"] / 1e6) for look in quarters],
        "descriptors": [int(look["descriptors"]) for look in quarters],
        "threads": [int(look["threads"]) for look in quarters],
    }


def side_by_side(place: Path) -> dict[str, Any]:
    """Two sweeps at once, each with a folder of its own, that share an empty cache of programs."""
    cases = [case for case in CASES if case.name.startswith("sweep")]
    faults: list[str] = []
    for case in cases:
        whole = Subject(case, place / "whole" / case.name)
        whole.place.mkdir(parents=True)
        measure_undisturbed(whole)
        shutil.rmtree(place / "cache", ignore_errors=True)
        pair = [_Beside(case, place / f"{side}" / case.name) for side in (1, 2)]
        for one in pair:
            one.place.mkdir(parents=True)
        drivers = [one.start("nbyt.cli.main", case.command(one.out), Family()) for one in pair]
        for one, driver in zip(pair, drivers, strict=True):
            code = wait(driver)
            if code != 0 or "arning" in one.said():
                faults.append(f"{case.name}: exit code {code}: {one.said()[-500:]}")
                continue
            found = contents(case, one.out)
            faults += [
                f"{case.name}: {name} differs"
                for name in whole.expected.keys() | found.keys()
                if found.get(name) != whole.expected.get(name)
            ]
    return {"pairs": len(cases), "faults": faults}


class _Beside(Subject):
    """One of two sweeps that share a cache."""

    @property
    def cache(self) -> Path:
        """Return the cache of both."""
        return self.place.parents[1] / "cache"


def one_folder(case: Case, place: Path) -> dict[str, Any]:
    """Give a command twice at about the same time, with the same --out."""
    place.mkdir(parents=True)
    subject = Subject(case, place)
    measure_undisturbed(subject)
    codes: list[list[int]] = []
    for number in range(_ROUNDS):
        lag = number / _ROUNDS * subject.seconds
        codes.append(_twice(subject, lag))
        again = wait(subject.start(LAUNCH, case.command(subject.out), Family()))
        if again != 0 or contents(case, subject.out) != subject.expected:
            subject.faults.append(
                f"{lag:.1f} s apart: exit code {again}, or other bytes afterwards"
            )
        subject.faults += leftovers(subject.out) + damages(subject.out)
        shutil.rmtree(subject.out)
    return {
        "name": case.name,
        "rounds": _ROUNDS,
        "refused": sum(2 in pair for pair in codes),
        "codes": codes,
        "faults": subject.faults,
    }


def _twice(subject: Subject, lag: float) -> list[int]:
    """Start the command twice; one of them may be refused, and both may find it done."""
    command, said = subject.case.command(subject.out), []
    first = subject.start(LAUNCH, command, Family())
    (subject.place / "stderr").rename(subject.place / "stderr-first")
    time.sleep(lag)
    second = subject.start(LAUNCH, command, Family())
    codes = [wait(first), wait(second)]
    said = [(subject.place / "stderr-first").read_text(), subject.said()]
    for code, words in zip(codes, said, strict=True):
        if code != 0 and (code != 2 or _REFUSED not in words):
            subject.faults.append(f"{lag:.1f} s apart: exit code {code}: {words[-500:]}")
    if 0 not in codes:
        subject.faults.append(f"{lag:.1f} s apart: both were refused")
    return codes


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak.many", description=__doc__)
    parser.add_argument("--cells", type=int, default=500)
    print(json.dumps(soak(parser.parse_args().cells), indent=1))


if __name__ == "__main__":
    main()
