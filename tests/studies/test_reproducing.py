"""A small study from its experiment to its page: resumed, reproducible, and judged by its data."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nbyt.cli import main
from nbyt.cli import reproduce as command
from nbyt.errors import NbytError, StoreError
from nbyt.layout import Layout
from nbyt.report import figures
from nbyt.results import plain
from nbyt.results.values import Data
from nbyt.stats import mean
from nbyt.store.files import EXPERIMENT, STUDY
from nbyt.train.plan import PPOSettings
from nbyt_studies.bench import Bench
from nbyt_studies.post.experiments import costs, delay, visits
from nbyt_studies.reproducing import open_study, reproduce
from nbyt_studies.study import Check, Claim, Experiment, Results, Study, judged

LAYOUT = Layout(envs=4, steps=16, minibatch=32, epochs=1)
TABLE = PPOSettings(network="table")


def lengths(bench: Bench) -> Data:
    """How long the episodes of a short training were."""
    training = bench.trained("FrozenLake-v1", LAYOUT, stages=(1, 4), settings=TABLE)
    assert [stage.facts["updates"] for stage in training.stages] == [1, 4]
    assert training.at(4) is training.stages[1]
    found = [row["mean_length"] for row in training.rows if row["mean_length"] is not None]
    return {"lengths": mean(np.array(found)).as_dict(), "size": bench.pick("quick", "full")}


def ends(bench: Bench) -> Data:
    """How far another training came."""
    training = bench.trained("FrozenLake-v1", LAYOUT, stages=(3,), settings=TABLE)
    return {"updates": len(training.rows)}


def longer_than(bound: float) -> Claim:
    def checks(results: Results) -> list[Check]:
        number = results["lengths"]["lengths"]
        return [Check({"env": "FrozenLake-v1"}, "steps of an episode", number, low=bound)]

    def drawn(results: Results) -> list[Data]:
        some = [figures.series("length", [0], [results["lengths"]["lengths"]])]
        return [figures.lines("Episodes", "run", "steps", some)]

    needs = ("lengths",)
    return Claim("long", "Episodes", "They last.", "A run.", "Steps.", needs, checks, drawn)


SMALL = Study(
    "post",
    "A small study",
    "Nothing to see.",
    (Experiment("lengths", "lengths", lengths), Experiment("ends", "ends", ends)),
    (longer_than(1.0),),
)


def test_a_study_is_done_once_and_the_same_way(tmp_path: Path) -> None:
    folder = open_study(SMALL, tmp_path / "a", quick=True, seed=3)
    first = reproduce(SMALL, folder, quick=True, seed=3)
    marks = [path.stat().st_mtime_ns for path in sorted(folder.path.glob("experiment-*"))]
    again = reproduce(SMALL, folder, quick=True, seed=3)
    assert again.data == first.data and marks
    assert marks == [path.stat().st_mtime_ns for path in sorted(folder.path.glob("experiment-*"))]
    other = open_study(SMALL, tmp_path / "b", quick=True, seed=3)
    fresh = reproduce(SMALL, other, quick=True, seed=3)
    assert fresh.data["claims"] == first.data["claims"]
    assert first.verdicts == {"long": "holds"} and first.report.exists()
    assert plain(folder.require(STUDY)) == json.loads(json.dumps(first.data))


def test_a_study_that_was_stopped_goes_on(tmp_path: Path) -> None:
    def stop(what: str, done: int, total: int) -> None:
        if what.startswith("ends, training") and done == 2:
            raise KeyboardInterrupt

    folder = open_study(SMALL, tmp_path / "a", quick=True, seed=0)
    with pytest.raises(KeyboardInterrupt):
        reproduce(SMALL, folder, quick=True, progress=stop)
    assert folder.read(EXPERIMENT, "lengths") and folder.read(EXPERIMENT, "ends") is None
    mark = (folder.path / "experiment-lengths.json").stat().st_mtime_ns
    resumed = reproduce(SMALL, folder, quick=True)
    assert (folder.path / "experiment-lengths.json").stat().st_mtime_ns == mark
    whole = open_study(SMALL, tmp_path / "b", quick=True, seed=0)
    assert reproduce(SMALL, whole, quick=True).data["claims"] == resumed.data["claims"]
    for name in ("lengths", "ends"):
        assert whole.read(EXPERIMENT, name) == folder.read(EXPERIMENT, name)


def test_workers_find_what_one_process_finds(tmp_path: Path) -> None:
    # Experiments of the package: a fresh interpreter finds those by name.
    some = replace(
        SMALL, experiments=(*delay.EXPERIMENTS, *costs.PROBABILITY_EXPERIMENTS), claims=()
    )
    alone, beside = (open_study(some, tmp_path / name, quick=True, seed=0) for name in "ab")
    reproduce(some, alone, quick=True)
    said: list[str] = []
    reproduce(some, beside, quick=True, workers=2, progress=lambda *x: said.append(x[0]))
    assert any(what.startswith("delayed rewards and slippery ground, ") for what in said)
    for one in some.experiments:
        assert alone.read(EXPERIMENT, one.name) == beside.read(EXPERIMENT, one.name)


def test_an_error_in_a_worker_ends_the_study_in_words(tmp_path: Path) -> None:
    folder = open_study(SMALL, tmp_path / "a", quick=True, seed=0)
    broken = folder.path / "trainings"
    broken.write_text("not a folder")
    some = replace(SMALL, experiments=visits.EXPERIMENTS, claims=())
    with pytest.raises(NbytError, match="trainings"):
        reproduce(some, folder, quick=True, workers=2)


def test_the_verdict_follows_the_data(tmp_path: Path) -> None:
    folder = open_study(SMALL, tmp_path / "a", quick=True, seed=0)
    reproduce(SMALL, folder, quick=True)
    data = folder.read(EXPERIMENT, "lengths")
    data["lengths"] = {"value": 0.5, "low": 0.4, "high": 0.6}
    folder.write(EXPERIMENT, data, "lengths")
    assert reproduce(SMALL, folder, quick=True).verdicts == {"long": "does not hold"}
    hard = replace(SMALL, claims=(longer_than(0.55),))
    assert judged(hard.claims[0], {"lengths": data})["verdict"] == "cannot be told"


def test_the_command_keeps_its_promise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(command._STUDIES, "post", SMALL)
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
    folder = open_study(small, tmp_path / "study", quick=True, seed=0)
    for wrong in ({}, {"lengths": None}, {"lengths": {"value": "x", "low": "x", "high": 1}}):
        folder.write(EXPERIMENT, wrong, "lengths")
        with pytest.raises(StoreError, match=r"experiment-lengths\.json is not what nbyt writes"):
            reproduce(small, folder, quick=True)
