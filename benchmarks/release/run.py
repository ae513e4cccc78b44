"""Check what would be published: wheel and sdist, each installed where nothing else is.

    python -m benchmarks.release.run [--publish TAG] [--keep DIR] -- PYTEST_ARGUMENTS...

The changelog has the form that it should have; both files pass `twine check`; `nbyt doctor` agrees
with its control from either; a user's file passes `mypy --strict` against the wheel, and one with
a wrong type does not; and the core tests pass with the wheel. `make release-check` says which
tests. --publish: as for a release, so the tag and the changelog's top entry are this version, and
the addresses in pyproject.toml are real ones. --keep: copy both files to this folder.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.package.run import ROOT, built, environment, install, installed, run
from benchmarks.release import changelog, user_code
from benchmarks.versions.bounds import project
from nbyt import __version__

_TOOLS = Path(__file__).with_name("requirements.txt")
_EXAMPLE = "example.org"
# mypy has to see the types of the installed package to find this.
_WRONG = "from nbyt import Layout\n\nsteps: str = Layout(envs=8, steps=256).batch\n"


def main() -> None:
    """Check everything, and end with what is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--publish", metavar="TAG")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    bad = texts_at_fault(given.publish)
    if bad:
        sys.exit("\n".join(bad))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = built(folder)
        tools = environment(folder / "tools")
        install(tools, "-r", _TOOLS)
        run(tools, "-m", "twine", "check", "--strict", wheel, sdist, cwd=folder)
        for package in (sdist, wheel):
            place = folder / package.suffix
            place.mkdir()
            python = installed(place, package)
            _asked(python, package.name, place)
        _typed(python, tools, folder)
        _tested(python, wheel, given.tests)
        if given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
            for package in (wheel, sdist):
                shutil.copy(package, given.keep)
    print(f"nbyt {__version__}: wheel and sdist are ready")


def texts_at_fault(tag: str | None) -> list[str]:
    """List what the changelog and pyproject.toml lack; tag: of a release, which may lack less."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    found = changelog.faults(text, __version__, release=tag is not None)
    bad = [f"CHANGELOG.md: {one}" for one in found]
    if tag is None:
        return bad
    if tag != f"v{__version__}":
        bad.append(f"the tag is {tag}, and the package is {__version__}")
    examples = [name for name, address in project()["urls"].items() if _EXAMPLE in address]
    if examples:
        bad.append(f"pyproject.toml: {', '.join(examples)} still at {_EXAMPLE}")
    return bad


def _asked(python: Path, name: str, folder: Path) -> None:
    """Let the installed package say where and what it is, and compute its control."""
    where = run(python, "-c", "import nbyt; print(nbyt.__file__)", cwd=folder).strip()
    if not Path(where).is_relative_to(folder):
        sys.exit(f"{where} is not the package that was installed")
    answer = json.loads(run(python, "-m", "nbyt.cli.main", "doctor", "--json", cwd=folder))
    found = answer["data"]["versions"]["nbyt"]
    if found != __version__:
        sys.exit(f"the package says that it is {found}, not {__version__}")
    print(f"{name}: nbyt doctor agrees with its control")


def _typed(python: Path, tools: Path, folder: Path) -> None:
    """Check a user's file, and one that is wrong, against the types of the installed package."""
    check = (tools, "-m", "mypy", "--strict", "--python-executable", python)
    own, wrong = folder / "user_code.py", folder / "wrong.py"
    shutil.copy(user_code.__file__, own)
    run(*check, own, cwd=folder)
    wrong.write_text(_WRONG)
    done = subprocess.run(
        [*map(str, check), str(wrong)], cwd=folder, capture_output=True, text=True
    )
    if '"int"' not in done.stdout or '"str"' not in done.stdout:
        sys.exit(f"mypy does not see the package's types: {done.stdout}")
    print("mypy sees the types of the installed package")


def _tested(python: Path, wheel: Path, arguments: list[str]) -> None:
    """Run tests of the checkout with the installed package; conftest.py compares its place."""
    install(python, f"{wheel}[gymnax]", "-r", ROOT / "tests" / "requirements.txt")
    place = {"NBYT_TEST_INSTALLED": str(python.parents[1])}
    command = [str(python), "-m", "pytest", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | place)
    if done.returncode:
        sys.exit("the core tests do not pass with the installed wheel")


if __name__ == "__main__":
    main()
