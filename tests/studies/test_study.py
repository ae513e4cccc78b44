"""A small study from its experiment to its page: resumed, reproducible, and judged by its data."""

import json
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from tests.studies.small_study import SMALL, lengths, longer_than

from nbyt.errors import NbytError, StoreError
from nbyt.results import plain
from nbyt.results.values import Data
from nbyt.store.files import EXPERIMENT, STUDY
from nbyt_studies.experiment import Experiment
from nbyt_studies.post.experiments import delay, visits
from nbyt_studies.post.study import POST
from nbyt_studies.replay.study import REPLAY
from nbyt_studies.study import Evidence, Results, Study, read_claims


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


def test_an_experiment_that_somebody_changed_is_named(tmp_path: Path) -> None:
    small = Study("small", "Small", "A study.", (Experiment("lengths", "lengths", lengths),), ())
    small = replace(small, claims=(longer_than(0.0),))
    folder = small.open_folder(tmp_path / "study", quick=True, seed=0)
    for wrong in ({}, {"lengths": None}, {"lengths": {"value": "x", "low": "x", "high": 1}}):
        folder.write(EXPERIMENT, wrong, "lengths")
        with pytest.raises(StoreError, match=r"experiment-lengths\.json is not what nbyt writes"):
            small.reproduce(folder, quick=True)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package whose `claims.toml` has two claims."""
    folder = tmp_path / "written_claims"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "claims.toml").write_text(
        """
        [shared]
        common = "Two  runs."
        reasons = ["One of {count}.", "Another."]

        [second]
        topic = "T"
        kind = "measurement"
        contradicts = "C"
        says = "S"
        measured = "{common} More."
        asks = "A"
        needs = ["lengths"]
        notes = ["{reasons}", "{none}", "From {least:.1f} to {most[of it]}."]

        [first]
        topic = "T"
        kind = "measurement"
        contradicts = "C"
        says = "S"
        measured = "M"
        asks = "A"
        needs = []
        """
    )
    monkeypatch.syspath_prepend(tmp_path)
    return folder.name


def test_a_claim_has_the_words_of_its_file_and_the_values_of_its_data(written: str) -> None:
    def values(results: Results) -> Data:
        return {**results["lengths"], "none": [], "most": {"of it": "all"}}

    evidence = {"first": Evidence(list), "second": Evidence(list, values=values)}
    second, first = read_claims(written, evidence)
    assert (second.id, first.id) == ("second", "first"), "the file has the order"
    assert second.measured == "Two runs. More." and second.needs == ("lengths",)
    notes = second.notes({"lengths": {"count": 3, "least": 0.25}})
    assert notes == ["One of 3.", "Another.", "From 0.2 to all."]
    assert first.notes({}) == [] and first.figures({}) == []


def test_evidence_on_a_claim_that_nobody_made_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="third"):
        read_claims(written, {"third": Evidence(list)})


@pytest.mark.parametrize("study", [POST, REPLAY], ids=lambda study: study.name)
def test_every_claim_of_the_file_is_judged_by_experiments_of_the_study(study: Study) -> None:
    text = (files(f"nbyt_studies.{study.name}") / "claims.toml").read_text("utf-8")
    ids = [name for name in tomllib.loads(text) if name not in ("shared", "findings")]
    assert ids == [claim.id for claim in study.claims]
    known = {experiment.name for experiment in study.experiments}
    assert all(known.issuperset(claim.needs) for claim in study.claims)
