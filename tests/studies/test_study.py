"""A small study from its experiment to its page: resumed, reproducible, and judged by its data."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.studies.small_study import SMALL, lengths, longer_than

from nbyt.cli import main
from nbyt.cli import reproduce as command
from nbyt.errors import NbytError, StoreError
from nbyt.results import plain
from nbyt.store.files import EXPERIMENT, STUDY
from nbyt_studies.experiment import Experiment
from nbyt_studies.post.experiments import delay, visits
from nbyt_studies.study import Study


def test_a_study_is_done_once_and_the_same_way(tmp_path: Path) -> None:
    folder = SMALL.open_folder(tmp_path / "a", quick=True, seed=3)
    first = SMALL.reproduce(folder, quick=True, seed=3)
    marks = [path.stat().st_mtime_ns for path in sorted(folder.path.glob("experiment-*"))]
    again = SMALL.reproduce(folder, quick=True, seed=3)
    assert again.data == first.data and marks
    assert marks == [path.stat().st_mtime_ns for path in sorted(folder.path.glob("experiment-*"))]
    other = SMALL.open_folder(tmp_path / "b", quick=True, seed=3)
    fresh = SMALL.reproduce(other, quick=True, seed=3)
    assert fresh.data["claims"] == first.data["claims"]
    assert first.verdicts == {"long": "holds"} and first.report.exists()
    assert plain(folder.require(STUDY)) == json.loads(json.dumps(first.data))


def test_a_study_that_was_stopped_goes_on(tmp_path: Path) -> None:
    def stop(what: str, done: int, total: int) -> None:
        if what.startswith("ends, training") and done == 2:
            raise KeyboardInterrupt

    folder = SMALL.open_folder(tmp_path / "a", quick=True, seed=0)
    with pytest.raises(KeyboardInterrupt):
        SMALL.reproduce(folder, quick=True, progress=stop)
    assert folder.read(EXPERIMENT, "lengths") and folder.read(EXPERIMENT, "ends") is None
    mark = (folder.path / "experiment-lengths.json").stat().st_mtime_ns
    resumed = SMALL.reproduce(folder, quick=True)
    assert (folder.path / "experiment-lengths.json").stat().st_mtime_ns == mark
    whole = SMALL.open_folder(tmp_path / "b", quick=True, seed=0)
    assert SMALL.reproduce(whole, quick=True).data["claims"] == resumed.data["claims"]
    for name in ("lengths", "ends"):
        assert whole.read(EXPERIMENT, name) == folder.read(EXPERIMENT, name)


def test_workers_find_what_one_process_finds(tmp_path: Path) -> None:
    # Experiments of the package: a fresh interpreter finds those by name.
    some = replace(SMALL, experiments=(delay.EXPERIMENTS[0], delay.EXPERIMENTS[2]), claims=())
    alone, beside = (some.open_folder(tmp_path / name, quick=True, seed=0) for name in "ab")
    some.reproduce(alone, quick=True)
    said: list[str] = []
    some.reproduce(beside, quick=True, workers=2, progress=lambda *x: said.append(x[0]))
    assert any(what.startswith("delayed rewards and slippery ground, ") for what in said)
    for one in some.experiments:
        assert alone.read(EXPERIMENT, one.name) == beside.read(EXPERIMENT, one.name)


def test_an_error_in_a_worker_ends_the_study_in_words(tmp_path: Path) -> None:
    folder = SMALL.open_folder(tmp_path / "a", quick=True, seed=0)
    broken = folder.path / "trainings"
    broken.write_text("not a folder")
    some = replace(SMALL, experiments=visits.EXPERIMENTS[:3], claims=())
    with pytest.raises(NbytError, match="trainings"):
        some.reproduce(folder, quick=True, workers=2)


def test_the_verdict_follows_the_data(tmp_path: Path) -> None:
    folder = SMALL.open_folder(tmp_path / "a", quick=True, seed=0)
    SMALL.reproduce(folder, quick=True)
    data = folder.read(EXPERIMENT, "lengths")
    data["lengths"] = {"value": 0.5, "low": 0.4, "high": 0.6}
    folder.write(EXPERIMENT, data, "lengths")
    assert SMALL.reproduce(folder, quick=True).verdicts == {"long": "does not hold"}
    hard = replace(SMALL, claims=(longer_than(0.55),))
    assert hard.claims[0].judged({"lengths": data})["verdict"] == "cannot be told"


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


def test_an_experiment_that_somebody_changed_is_named(tmp_path: Path) -> None:
    small = Study("small", "Small", "A study.", (Experiment("lengths", "lengths", lengths),), ())
    small = replace(small, claims=(longer_than(0.0),))
    folder = small.open_folder(tmp_path / "study", quick=True, seed=0)
    for wrong in ({}, {"lengths": None}, {"lengths": {"value": "x", "low": "x", "high": 1}}):
        folder.write(EXPERIMENT, wrong, "lengths")
        with pytest.raises(StoreError, match=r"experiment-lengths\.json is not what nbyt writes"):
            small.reproduce(folder, quick=True)
