"""nbyt sweep as a user gives it."""

import json
from pathlib import Path

import pytest
from tests.sweeps.small import DEVICE, HOST, ROOT, set_traps
from tests.sweeps.traps import FOLDER

from nbyt.cli import main


def test_the_command_says_what_failed_and_exits_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)  # where the env can be imported
    monkeypatch.setenv(FOLDER, "")  # and taken away again
    set_traps(tmp_path / "traps", "step-raise", "step-kill")
    sizes = "--batch 32 --layouts 4x8,8x4 --total 128 --minibatch 16 --seeds 1 --workers 1"
    words = ["sweep", HOST, *sizes.split(), "--no-advice", "--out", str(tmp_path / "sweep")]
    assert main.run([*words, "--json"]) == 3
    said = capsys.readouterr()
    record = json.loads(said.out)
    assert record["status"] == "partial"
    assert record["data"]["cells"] == {"done": 0, "failed": 2, "total": 2}
    trace, *_ = said.err.partition("warning: ")
    assert "in your code:" in trace and "traps.py" in trace
    killed, raised = record["warnings"]
    assert "4x8 seed 0 failed: the process" in killed and "SIGKILL" in killed
    assert "8x4 seed 0 failed: env" in raised and "(env 0, step 3, seed " in raised


def test_a_sweep_checks_its_last_seed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = ("--seeds", "16", "--out", str(tmp_path / "out"))
    assert main.run(["sweep", DEVICE, "--batch", "64", "--seed", str(2**32 - 1), *out]) == 2
    assert "for 16 seeds" in capsys.readouterr().err and not (tmp_path / "out").exists()
