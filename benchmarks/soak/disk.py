"""Run commands on a disk that is too small, give it more room, and give the command again.

    python -m benchmarks.soak.disk [--only advise] [--seed 0]

The disk is a real one: a file system in memory, mounted in a namespace of this process alone. It
grows four times by a random amount and then enough; so all but the first error come in the middle
of a resumed run. Every time: exit code 1, an error that names the file and says what to do,
nothing half-written. In the end: the same bytes as with room from the start.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.soak.cases import CASES, Case, damages, leftovers, slug
from benchmarks.soak.subject import LAUNCH, Subject, finish, measure_undisturbed, wait
from benchmarks.sweep.processes import Family

_NAMES = {"train, device env", "train, DQN", "train, host env", "advise"}
_NAMES |= {"sweep, host env", "reproduce"}
_GROWS = 4
_ENOUGH = "1g"
_INSIDE = "--inside"


def soak(seed: int = 0, only: str = "") -> dict[str, Any]:
    """Fill the disk of every command, in a namespace where a disk may be mounted."""
    words = [sys.executable, "-m", "benchmarks.soak.disk", "--seed", str(seed), "--only", only]
    unshare = shutil.which("unshare")
    if unshare is None:
        return {"skipped": "no unshare here to mount a small disk with"}
    namespace = [unshare, "--user", "--map-root-user", "--mount"]
    if subprocess.run([*namespace, "true"], capture_output=True).returncode != 0:
        return {"skipped": "namespaces are not allowed here, so no small disk can be mounted"}
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        subprocess.run([*namespace, *words, _INSIDE, result.name], check=True)
        return json.loads(Path(result.name).read_text())


def fill_all(seed: int, only: str) -> dict[str, Any]:
    """Fill the disk of every command."""
    chosen = [case for case in CASES if case.name in _NAMES and only in case.name]
    with tempfile.TemporaryDirectory() as place:
        return {
            "seed": seed,
            "cases": [fill_case(case, Path(place) / slug(case), seed) for case in chosen],
        }


def fill_case(case: Case, place: Path, seed: int) -> dict[str, Any]:
    """Fill the disk of one command, again and again."""
    subject = Subject(case, place)
    disk, used, errors = place / "disk", 0, list[dict[str, Any]]()
    disk.mkdir(parents=True)
    _mount(disk, _ENOUGH)
    try:
        measure_undisturbed(subject, keep=True)
        used = _used(disk)
        shutil.rmtree(subject.out)
        draw = np.random.default_rng([seed, *case.name.encode()])
        sizes = used * np.sort(draw.uniform(0.02, 1, _GROWS))
        errors += [_fill(subject, int(size)) for size in sizes]
        _mount(disk, f"remount,size={_ENOUGH}")
        finish(subject)
    except AssertionError as error:
        subject.faults.append(f"gave up: {error}")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    return {
        "name": case.name,
        "command": f"nbyt {case.words}",
        "bytes": used,
        "full": sum(one["code"] == 1 for one in errors),
        "finished": subject.finished,
        "faults": subject.faults,
        "errors": errors,
    }


def _fill(subject: Subject, size: int) -> dict[str, Any]:
    """Run the command with so many bytes of room, and check its error."""
    disk = subject.out.parent
    _mount(disk, f"remount,size={max(4096, _used(disk), size)}")
    family = Family()
    code = wait(subject.start(LAUNCH, subject.case.command(subject.out), family))
    said = " ".join(subject.said().split())
    where = f"with {size} bytes"
    if code == 1:
        for part in ("the disk refused", "where:", "fix: free some space"):
            if part not in said:
                subject.faults.append(f"{where}: no '{part}' in {said[-500:]}")
        if "Traceback" in said:
            subject.faults.append(f"{where}: a traceback: {said[-1500:]}")
    elif code != 0:
        subject.faults.append(f"{where}: exit code {code}: {said[-500:]}")
    if family.seconds_until_gone(10) is None:
        subject.faults.append(f"{where}: left processes: {list(family.alive().values())}")
    subject.faults += [f"{where}: left behind {name}" for name in leftovers(subject.out)]
    subject.faults += [f"{where}: {line}" for line in damages(subject.out)]
    print(subject.case.name, where, code, subject.faults, flush=True)
    return {"bytes": size, "code": code}


def _mount(disk: Path, size: str) -> None:
    options = size if "=" in size else f"size={size}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], check=True)


def _used(disk: Path) -> int:
    seen = os.statvfs(disk)
    return (seen.f_blocks - seen.f_bfree) * seen.f_frsize


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak.disk", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(_INSIDE, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        found = fill_all(options.seed, options.only)
        Path(options.inside).write_text(json.dumps(found))
    else:
        print(json.dumps(soak(options.seed, options.only), indent=1))


if __name__ == "__main__":
    main()
