"""Laws of the benchmarks' commands: what they start is there, and the start benchmark answers."""

import re
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks.throughput import start

ROOT = Path(__file__).parents[2]
MODULE = r"(?:benchmarks|nbyt|nbyt_studies)(?:\.[a-z_][a-z0-9_]*)+"
FILES = [ROOT / "Makefile", *sorted((ROOT / "benchmarks").rglob("*.py"))]


def started(text: str) -> set[str]:
    """Return the modules that are run with -m, or given to a function that does so."""
    return set(re.findall(rf'-m"?,? "?({MODULE})', text) + re.findall(rf'"({MODULE})"', text))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_that_is_run_by_name_exists(path: Path) -> None:
    assert all(find_spec(name) for name in started(path.read_text()))


def test_names_of_modules_are_found_in_shell_and_python() -> None:
    lines = '$(BIN)/python -m benchmarks.dqn.run\n[exe, "-m", "nbyt.cli.main"]\nrun("nbyt.cli.x")'
    assert started(lines) == {"benchmarks.dqn.run", "nbyt.cli.main", "nbyt.cli.x"}


def test_the_first_update_of_a_command_is_timed(monkeypatch, tmp_path: Path) -> None:
    sizes = "--envs 1 --steps 2 --minibatch 2 --epochs 1 --total 2 --network 1"
    monkeypatch.setattr(start, "COMMAND", f"train CartPole-v1 {sizes} --json --quiet")
    began = time.monotonic()
    seconds = start._first_update(tmp_path / "cache", tmp_path / "run")
    assert 0 < seconds <= time.monotonic() - began
