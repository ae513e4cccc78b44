"""Files with one key changed and the right hash: commands finish, or refuse them in words."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.soak.mutations import TRAIN, Target, attempt, mutated, run
from tests.report.pages.probes.probes_sample import head, training
from tests.report.pages.study.study_sample import study
from tests.store import kept
from tests.sweeps.made_up import curves_of, finished, grid_of

from nbyt.store.files import ADVICE, COSTS, LOOK, PROBES, STUDY, SWEEP
from nbyt.store.run import add_record, open_run

REPORT = "report FOLDER --out SCRATCH/page.html --quiet"
DOCTOR = "doctor --dir FOLDER --quiet"
FROM = f"{TRAIN} --out SCRATCH/from --force --from FOLDER/stage-1"
SEEDS = range(2)
CHANGES = 10  # with each seed


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one of every kind: real data of pages, and a small training."""
    root = tmp_path_factory.mktemp("folders")
    advice = open_run(root / "advise", {"command": "advise"}, "advise")
    facts = kept.advice()
    facts["stages"] = [one for one in facts["stages"] if one["closer"]]  # one says all, and is fast
    advice.write(ADVICE, facts)
    begun = open_run(root / "begun", {"command": "advise"}, "advise")
    begun.write(COSTS, kept.COSTS)
    begun.write(LOOK, kept.look(), 1, 32)
    grid = grid_of(seeds=3, steps=(4, 8, 16))
    sweep = open_run(root / "sweep", {"command": "sweep"}, "sweep")
    sweep.write(SWEEP, finished(grid, curves_of(grid), grid.cells[:2]))
    open_run(root / "study", {"study": "sample"}, "reproduce").write(STUDY, study())
    probes = open_run(root / "probes", head(), "probe a training")
    probes.write(PROBES, head())
    for record in training(4)["records"]:
        add_record(probes, record)
    done = run(f"{TRAIN} --out {root / 'train'}", root)
    assert done.word == "finished", done
    return root


TARGETS = {
    "advise/advice.json": (REPORT,),
    "begun/costs.json": (DOCTOR,),
    "begun/look-1-32.json": (DOCTOR,),
    "sweep/sweep.json": (REPORT,),
    "study/study.json": (REPORT,),
    "probes/probes.json": (REPORT,),
    "probes/record-000040.json": (REPORT,),
    "train/stage-1/stage.json": (FROM, DOCTOR),
    "train/result.json": (f"{TRAIN} --out FOLDER",),
    "train/nbyt-run.json": (f"{TRAIN} --out FOLDER",),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", TARGETS)
def test_a_changed_file_is_used_or_refused(
    name: str, seed: int, folders: Path, tmp_path: Path
) -> None:
    folder, _, file = name.partition("/")
    target = Target(name, folders / folder, file, TARGETS[name])
    chance, said = random.Random(f"{name} {seed}"), []

    def change(facts: Any) -> Any:
        found, words = mutated(facts, chance)
        said.append(words)
        return found

    for _ in range(CHANGES):
        for outcome in attempt(target, change, tmp_path):
            assert outcome.word in ("finished", "refused"), (said[-1], outcome)


@pytest.mark.parametrize("name", TARGETS)
def test_an_unchanged_file_is_used(name: str, folders: Path, tmp_path: Path) -> None:
    folder, _, file = name.partition("/")
    target = Target(name, folders / folder, file, TARGETS[name])
    words = [outcome.word for outcome in attempt(target, lambda facts: facts, tmp_path)]
    assert words == ["finished"] * len(words)


def test_the_command_line_names_file_and_key(folders: Path, tmp_path: Path) -> None:
    facts = kept.advice()
    del facts["stages"][1]["layouts"][3]["actor"]["variance"]["low"]
    folder = open_run(tmp_path / "advise", {"command": "advise"}, "advise")
    folder.write(ADVICE, facts)
    done = subprocess.run(
        [sys.executable, "-m", "nbyt.cli.main", "report", str(folder.path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = "".join(done.stderr.split())
    assert done.returncode == 2 and "Traceback" not in said
    assert "advice.jsonisnotwhatnbytwrites:" in said
    assert "stages[1].layouts[3].actor.variance.lowismissing" in said
    assert not (folder.path / "report.html").exists()
