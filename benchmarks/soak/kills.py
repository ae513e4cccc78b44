"""Kill commands at random moments and at file operations, and give them again until they end.

    python -m benchmarks.soak.kills [--kills 20] [--only advise] [--seed 0]

After every kill: no process is left, and every file that is there is whole. After the resumed run:
exit code 0, no temporary file, and the same bytes as a run that nobody disturbed.
"""

import argparse
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.soak.cases import CASES, Case, damages, leftovers, slug
from benchmarks.soak.subject import (
    LAUNCH,
    Subject,
    check_finished,
    finish,
    measure_undisturbed,
    wait,
)
from benchmarks.sweep.processes import Family

ORPHAN_SECONDS = 10.0
_CODES = {signal.SIGKILL: {-9}, signal.SIGTERM: {130, -15}, signal.SIGINT: {130, -2}}
_PLAIN = "nbyt.cli.main"


def soak(
    kills: int = 20,
    seed: int = 0,
    only: str = "",
    known: Sequence[dict[str, Any]] = (),
    keep: Callable[[dict[str, Any]], None] = lambda found: None,
) -> dict[str, Any]:
    """Kill every command so often; two commands at a time.

    known: what was found before, which is not done again. keep: called when a command is done.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    done = {one["name"]: one for one in known}
    left = [case for case in CASES if only in case.name and case.name not in done]
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
        tasks = [
            pool.submit(kill_case, case, Path(place) / slug(case), kills, seed) for case in left
        ]
        for task in as_completed(tasks):
            done[task.result()["name"]] = task.result()
            keep({"seed": seed, "cases": list(done.values())})
    return {"seed": seed, "cases": [done[case.name] for case in CASES if case.name in done]}


def kill_case(case: Case, place: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill one command so often, and a few times more by SIGTERM and Ctrl-C."""
    place.mkdir(parents=True)
    subject = Subject(case, place)
    try:
        measure_undisturbed(subject)
        for how, share in _plan(case, kills, seed):
            strike(subject, how, share)
            print(case.name, subject.strikes[-1], subject.faults, flush=True)
        finish(subject)
    except AssertionError as error:
        subject.faults.append(f"gave up: {error}")
    return _summary(subject)


def _plan(case: Case, kills: int, seed: int) -> Iterator[tuple[str, float]]:
    """Say how and when: a share of the run's time, or of its file operations."""
    draw = np.random.default_rng([seed, *case.name.encode()])
    for number in range(kills):
        yield "kill -9" if number % 2 else "file operation", float(draw.uniform())
    for number in range(max(2, kills // 4)):
        yield "SIGTERM" if number % 2 else "Ctrl-C", float(draw.uniform())


def strike(subject: Subject, how: str, share: float) -> None:
    """Kill the command once; where it ends before, check it and begin another run."""
    for _ in range(20):
        if _struck(subject, how, share):
            return
        check_finished(subject)
        share *= 0.8  # a resumed run is over sooner than a whole one
    raise AssertionError(f"never killed by {how}")


def _struck(subject: Subject, how: str, share: float) -> bool:
    family, at_operation = Family(), how == "file operation"
    command = subject.case.command(subject.out, serial=at_operation)
    if at_operation:
        command = ["--die-at", str(1 + int(share * subject.operations)), *command]
    module = _PLAIN if how in ("SIGTERM", "Ctrl-C") and command[0] != "reproduce" else LAUNCH
    driver = subject.start(module, command, family)
    number = {"SIGTERM": signal.SIGTERM, "Ctrl-C": signal.SIGINT}.get(how, signal.SIGKILL)
    if at_operation:
        code = wait(driver)
    else:
        try:
            code = driver.wait(share * subject.seconds)
        except subprocess.TimeoutExpired:
            _send(driver, number, how)
            code = wait(driver)
    if code == 0:
        return False
    gone = family.seconds_until_gone(ORPHAN_SECONDS)
    subject.strikes.append(
        {
            "how": how,
            "share": round(share, 3),
            "code": code,
            "files": len(list(subject.out.rglob("*"))) if subject.out.exists() else 0,
            "temporary": len(leftovers(subject.out)),
            "orphan_seconds": None if gone is None else round(gone, 2),
        }
    )
    where = f"{how} at {share:.3f}"
    if code not in _CODES[number]:
        subject.faults.append(f"{where}: exit code {code}: {subject.said()[-500:]}")
    if gone is None:
        subject.faults.append(f"{where}: left processes: {list(family.alive().values())}")
    if how == "Ctrl-C" and "Traceback" in subject.said():
        subject.faults.append(f"{where}: a traceback: {subject.said()[-1500:]}")
    subject.faults += [f"{where}: {line}" for line in damages(subject.out)]
    return True


def _send(driver: subprocess.Popen[bytes], number: signal.Signals, how: str) -> None:
    if how == "Ctrl-C":  # a terminal sends it to the whole group
        os.killpg(driver.pid, number)
    else:
        driver.send_signal(number)


def _summary(subject: Subject) -> dict[str, Any]:
    strikes = subject.strikes
    orphans = [one["orphan_seconds"] for one in strikes if one["orphan_seconds"] is not None]
    return {
        "name": subject.case.name,
        "command": f"nbyt {subject.case.words}",
        "undisturbed_seconds": round(subject.seconds, 1),
        "file_operations": subject.operations,
        "kills": {
            how: sum(one["how"] == how for one in strikes)
            for how in ("kill -9", "file operation", "SIGTERM", "Ctrl-C")
        },
        "finished": subject.finished,
        "files_compared": len(subject.expected),
        "temporary_files_left_by_kills": sum(one["temporary"] for one in strikes),
        "longest_orphan_seconds": max(orphans, default=0.0),
        "faults": subject.faults,
        "strikes": strikes,
    }


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(json.dumps(soak(options.kills, options.seed, options.only), indent=1))


if __name__ == "__main__":
    main()
