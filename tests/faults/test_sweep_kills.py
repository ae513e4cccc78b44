"""The driver of a sweep is interrupted and killed: workers go with it, cells stay, it goes on."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from benchmarks.sweep.processes import Family
from tests.sweeps.small import FLAGS, HOST, ROOT, grid_of, outcomes

from nbyt.cli import main
from nbyt.sweeps.cells import InProcessRunner
from nbyt.sweeps.run import table_text

SEEDS = 4


def words_of(out: Path) -> list[str]:
    """The command."""
    return ["sweep", HOST, *FLAGS.split(), "--seeds", str(SEEDS), "--out", str(out)]


def struck(out: Path, number: int, after: int, pause: float) -> tuple[int, float | None, str]:
    """Exit code, seconds until no process is left, and what was said, of a driver so struck.

    after: how many cells must be there; pause: seconds after that.
    """
    family = Family()
    driver = subprocess.Popen(
        [sys.executable, "-m", "nbyt.cli.main", *words_of(out)],
        cwd=ROOT,
        env=family.environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    ends = time.monotonic() + 120
    while driver.poll() is None and len(list(out.glob("cell-*"))) < after:
        assert time.monotonic() < ends, "no cell came"
        time.sleep(0.05)
    time.sleep(pause)
    driver.send_signal(number)
    code = driver.wait(timeout=120)
    gone = family.seconds_until_gone(10)
    said = driver.communicate()[1]
    return code, gone, said


def test_a_sweep_that_was_interrupted_and_killed_ends_as_if_it_never_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the test command twice; `make soak` does it at many random moments."""
    out = tmp_path / "sweep"
    pauses = np.random.default_rng(0).uniform(0, 1, 2)
    code, gone, said = struck(out, signal.SIGINT, 1, pauses[0])
    assert code == 130 and gone is not None, said
    assert "give the same command again to go on: nbyt sweep" in " ".join(said.split())
    kept = {path: path.read_bytes() for path in out.glob("cell-*")}
    assert 1 <= len(kept) < 2 * SEEDS
    code, gone, _ = struck(out, signal.SIGKILL, len(kept) + 1, pauses[1])
    assert code == -signal.SIGKILL and gone is not None, "workers outlived their driver"
    monkeypatch.chdir(ROOT)
    assert main.run(words_of(out)) == 0
    assert {path: path.read_bytes() for path in kept} == kept
    grid = grid_of(HOST, SEEDS)
    assert (out / "table.csv").read_text() == table_text(
        grid, outcomes(InProcessRunner(), grid), {}
    )
