"""A command under test: its folder, its undisturbed run, and the checks after a resumed one."""

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.soak.cases import Case, contents, damages, leftovers
from benchmarks.soak.launch import SAID
from benchmarks.sweep.processes import Family

LAUNCH = "benchmarks.soak.launch"
_LONGEST = 300.0  # seconds that a command may take here before it counts as hanging


@dataclass
class Subject:
    """A case under kills: its folder, the undisturbed run, and what was found so far."""

    case: Case
    place: Path
    seconds: float = 0.0
    operations: int = 0
    expected: dict[str, bytes] = field(default_factory=dict)
    strikes: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    finished: int = 0

    @property
    def out(self) -> Path:
        """Return the folder of the run; always the same one, because results name it."""
        return self.place / "disk" / "out"

    @property
    def cache(self) -> Path:
        """Return the folder of compiled programs."""
        return self.place / "cache"

    def start(self, module: str, words: list[str], family: Family) -> subprocess.Popen[bytes]:
        """Start the command in a process group of its own, as a terminal does."""
        cache = {"XDG_CACHE_HOME": str(self.cache)}
        with (self.place / "stderr").open("wb") as said:
            return subprocess.Popen(
                [sys.executable, "-m", module, *words],
                env={**family.environment, **cache},
                stdout=subprocess.DEVNULL,
                stderr=said,
                cwd=Path(__file__).parents[2],
                start_new_session=True,
            )

    def said(self) -> str:
        """Return what the last command said on stderr."""
        return (self.place / "stderr").read_text(errors="replace")


def wait(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code of a command; one that hangs is ended, and is an AssertionError."""
    try:
        return process.wait(_LONGEST)
    except subprocess.TimeoutExpired as error:
        process.kill()
        raise AssertionError(f"no end after {_LONGEST:.0f} s: {process.args!r}") from error


def measure_undisturbed(subject: Subject, *, keep: bool = False) -> None:
    """Run the command once undisturbed, after another that fills the cache; keep: its folder."""
    for _ in range(2):
        shutil.rmtree(subject.out, ignore_errors=True)
        family, began = Family(), time.monotonic()
        command = subject.case.command(subject.out, serial=True)
        code = wait(subject.start(LAUNCH, command, family))
        assert code == 0, f"the undisturbed run ended with {code}: {subject.said()}"
        subject.seconds = time.monotonic() - began
    subject.operations = int(subject.said().rpartition(SAID)[2])
    subject.expected = contents(subject.case, subject.out)
    if not keep:
        shutil.rmtree(subject.out)


def finish(subject: Subject) -> None:
    """Give the command again without kills, and check what it leaves."""
    code = wait(subject.start(LAUNCH, subject.case.command(subject.out), Family()))
    if code != 0:
        subject.faults.append(f"the resumed run ended with {code}: {subject.said()[-500:]}")
        shutil.rmtree(subject.out, ignore_errors=True)
        return
    check_finished(subject)


def check_finished(subject: Subject) -> None:
    """Compare a finished folder with the undisturbed one, and remove it."""
    subject.finished += 1
    found = contents(subject.case, subject.out)
    names = sorted(found.keys() | subject.expected.keys())
    differing = [name for name in names if found.get(name) != subject.expected.get(name)]
    if differing:
        subject.faults.append(f"other bytes after a resumed run: {differing}")
    subject.faults += [f"left behind: {name}" for name in leftovers(subject.out)]
    subject.faults += damages(subject.out)
    shutil.rmtree(subject.out)
