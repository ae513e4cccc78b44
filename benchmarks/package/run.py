"""Wheel and sdist: build both, install the core from nothing, run it, also with JAX taken away.

python -m benchmarks.package.run (a part of `make test`) ends with 1 if anything fails.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MOST_MEGABYTES = 600
_RUN = "CartPole-v1 --envs 4 --steps 8 --minibatch 32 --epochs 1 --total 64 --quiet --out run"
_WITH_JAX = (f"train {_RUN}", "check-env CartPole-v1 --quiet")
_WITHOUT_JAX = (
    "explain sb3 n_envs=8",
    "translate ppo1 sb3 processes=8 timesteps_per_actorbatch=256",
    "compare sb3 n_envs=8 -- sb3 n_envs=64",
    "dialects",
    "report advice",
)


def main() -> None:
    """Do all of it in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = built(folder)
        python = installed(folder, wheel)
        shutil.copytree(ROOT / "tests" / "golden" / "folders" / "advise", folder / "advice")
        for command in _WITH_JAX:
            run(python, "-m", "nbyt.cli.main", *command.split(), cwd=folder)
        run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "jax", "jaxlib", cwd=folder)
        for command in _WITHOUT_JAX:
            run(python, "-m", "nbyt.cli.main", *command.split(), cwd=folder)
        print(f"wheel {_mb(wheel):.1f} MB, sdist {_mb(sdist):.1f} MB; both work")


def built(folder: Path) -> tuple[Path, Path]:
    """Build both, and a wheel from the sdist, which must hold the same files."""
    build = [sys.executable, "-m", "hatchling", "build", "-d"]
    run(*build, folder / "dist", cwd=ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "sdist", filter="data")
    (source,) = (folder / "sdist").iterdir()
    run(*build, folder / "again", "-t", "wheel", cwd=source)
    (again,) = (folder / "again").glob("*.whl")
    here, there = (sorted(zipfile.ZipFile(one).namelist()) for one in (wheel, again))
    if here != there:
        sys.exit(f"the wheel of the sdist has other files: {sorted({*here} ^ {*there})}")
    return wheel, sdist


def installed(folder: Path, package: Path) -> Path:
    """Install a wheel or sdist and what it needs; print how large that is; return its Python."""
    python = environment(folder / "venv")
    begun = time.perf_counter()
    packages = next((folder / "venv").glob("lib/python*/site-packages"))
    before = _size(packages)
    install(python, "--no-compile", package)
    seconds, size = time.perf_counter() - begun, _size(packages) - before
    count = len([*packages.glob("*.dist-info")])
    print(f"the core: {count} packages, {size:.0f} MB, installed in {seconds:.0f} s")
    if size > _MOST_MEGABYTES:
        sys.exit(f"the core has grown beyond {_MOST_MEGABYTES} MB")
    return python


def environment(folder: Path) -> Path:
    """Make an environment that has nothing; return its Python."""
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    return folder / "bin" / "python"


def install(python: Path, *what: object) -> None:
    """Install packages, in the versions of constraints.txt where that names them."""
    options = ("--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt")
    run(python, "-m", "pip", "install", *options, *what, cwd=python.parent)


def _size(folder: Path) -> float:
    """Return the size of a folder in MB of 2^20 bytes, as `du -m` has it; no bytecode."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")
    return sum(map(_mb, files))


def _mb(file: Path) -> float:
    return file.stat().st_size / 2**20


def run(*command: object, cwd: Path) -> str:
    """Run a command to its end and return what it prints; end with what it said if it fails."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
