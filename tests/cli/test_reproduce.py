"""nbyt reproduce as a user gives it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.studies.small_study import SMALL

from nbyt.cli import main
from nbyt.cli import reproduce as command


def test_the_command_keeps_its_promise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "find_study", lambda name: SMALL)
    out = tmp_path / "post"
    given = ["reproduce", "post", "--quick", "--out", str(out)]
    assert main.run([*given, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["command"] == "reproduce" and record["status"] == "ok"
    (claim,) = record["data"]["claims"]
    assert set(claim) >= {"id", "claim", "verdict", "numbers"}
    assert set(next(iter(claim["numbers"].values()))) >= {"value", "low", "high"}
    page = Path(record["data"]["report"])
    assert page.is_absolute()
    before = page.read_text()
    page.unlink()
    assert main.run(["report", str(out)]) == 0
    assert page.read_text() == before
    assert main.run([*given, "--seed", "1"]) == 2
    assert "other settings" in capsys.readouterr().err


def test_a_dry_run_names_what_would_be_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["reproduce", "post", "--dry-run", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["study"] == "post" and data["experiments"] and data["claims"]
    assert data["minutes"] > 0 and data["memory_gb"] > 0


def test_less_than_no_workers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["reproduce", "post", "--dry-run", "--workers", "-2"]) == 2
    assert "workers" in capsys.readouterr().err


def test_an_unknown_study_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["reproduce", "novel"]) == 2
    assert "post" in capsys.readouterr().err


def test_ctrl_c_stops_workers_and_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "post"
    command = [sys.executable, "-m", "nbyt.cli.main", "reproduce", "post", "--quick"]
    process = subprocess.Popen(
        [*command, "--workers", "2", "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    for line in process.stderr:  # until a worker says what it does
        if line.rstrip().endswith("..."):
            break
    # As a terminal does: to all processes of the group.
    os.killpg(process.pid, signal.SIGINT)
    rest = process.stderr.read()
    assert process.wait(timeout=60) == 130
    assert "give the same command again to go on" in rest and "Traceback" not in rest
    assert _gone(process.pid)


def _gone(group: int) -> bool:
    """Whether no process of the group is left, soon: Python's own helper ends after its parent."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False
