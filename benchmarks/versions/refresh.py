"""Write constraints.txt anew: the newest versions that fit together, and the date.

python -m benchmarks.versions.refresh EXTRA... (`make refresh-constraints`) installs nothing.
"""

import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from benchmarks.versions.bounds import project
from nbyt.store.atomic import write_text

_ROOT = Path(__file__).parents[2]
CONSTRAINTS = _ROOT / "constraints.txt"
TESTED = _ROOT / "src" / "nbyt" / "cli" / "tested.py"
# Not the newest, and why.
HELD = {"torch": "2.13.0"}  # the last that has a small CPU build everywhere
_HEAD = """\
# Refreshed on {date} by `make refresh-constraints`: every version that `make install` takes.
# torch {torch} has a small CPU build where pip is told of one.
"""


def main() -> None:
    """Resolve, write both files, and print what changed."""
    oldest = project()["requires-python"].removeprefix(">=")
    running = ".".join(map(str, sys.version_info[:2]))
    if running != oldest:
        sys.exit(f"Python {running} may take versions that {oldest} cannot: run it with {oldest}")
    before = CONSTRAINTS.read_text("utf-8")
    after = constraints(resolved(sys.argv[1:]), datetime.now(UTC).date().isoformat())
    write_text(CONSTRAINTS, after)
    write_text(TESTED, dated(TESTED.read_text("utf-8"), after))
    pins = [set(text.splitlines()) for text in (before, after)]
    for line in sorted(pins[0] ^ pins[1], key=str.lower):
        print("+" if line in pins[1] else "-", line)


def resolved(extras: list[str]) -> dict[str, str]:
    """Ask pip for the newest versions that fit together, by name; itself and nbyt left out."""
    declared = project()
    needs = [*declared["dependencies"]]
    needs += [need for name in extras for need in declared["optional-dependencies"][name]]
    held = [f"{name}=={version}" for name, version in HELD.items()]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = ["pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        options = ["--disable-pip-version-check", "--report", str(report)]
        subprocess.run([sys.executable, "-m", *command, *options, *held, *needs], check=True)
        found: dict[str, Any] = json.loads(report.read_text("utf-8"))
    facts = [one["metadata"] for one in found["install"]]
    # A build such as 2.13.0+cpu is one of several of that version.
    return {one["name"]: one["version"].partition("+")[0] for one in facts}


def constraints(versions: dict[str, str], date: str) -> str:
    """Write constraints, by name."""
    lines = [f"{name}=={versions[name]}" for name in sorted(versions, key=canonicalize_name)]
    return _HEAD.format(date=date, torch=HELD["torch"]) + "\n".join(lines) + "\n"


def dated(module: str, constraints: str) -> str:
    """Put the date of constraints into the module that `nbyt doctor` shows it from."""
    date = constraints.partition(" on ")[2].partition(" ")[0]
    kept, _, _ = module.rpartition("CONSTRAINTS_REFRESHED = ")
    return f'{kept}CONSTRAINTS_REFRESHED = "{date}"\n'


if __name__ == "__main__":
    main()
