"""Runs of the user's own as evidence: what counts, what is refused, and what the answer says."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.advice.races import LAKE, SETTINGS, planned

import nbyt
from nbyt.advice.given import OwnRun, own_runs, require_same, sources_of
from nbyt.advice.race import hold_race
from nbyt.advice.request import make_advice_request
from nbyt.errors import StoreError, UsageError
from nbyt.results.sweep import CellCurve
from nbyt.store.files import CELL
from nbyt.store.run import Folder, open_run
from nbyt.sweeps.grid import Cell
from nbyt.training.curves import Curve
from nbyt.training.plan import PPOSettings

SMALL = {"batch": 64, "total": 2560, "settings": SETTINGS}
ASKED = {**SMALL, "steps": [4, 16], "costs": "parallel"}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "sweep"
    layouts = [(16, 4), (4, 16)]
    nbyt.sweep("tabular:FrozenLake-v1", layouts=layouts, seeds=2, advice=False, out=out, **SMALL)
    return out


def made_up(levels: dict[int, float], *, total: int = 2560, seeds: int = 3, **settings) -> OwnRun:
    """A sweep whose layouts rise at once to a level."""
    samples = tuple(range(total // 20, total + 1, total // 20))
    noise = np.random.default_rng(0).normal(size=(len(levels), seeds))
    curves = {
        Cell(64 // steps, steps, seed): CellCurve(
            samples=samples,
            returns=(level + 0.01 * noise[k, seed],) * len(samples),
            unfinished=0,
        )
        for k, (steps, level) in enumerate(levels.items())
        for seed in range(seeds)
    }
    return OwnRun(Path("own"), "a sweep", settings, total, curves)


class Draws:
    """A runner whose curves are drawn from the names of the cells, and that may be stopped."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last

    def run(self, grid, jobs, watch):
        for number, cell in enumerate(cell for job in jobs for cell in job):
            if number == self.last:
                raise KeyboardInterrupt
            points = grid.points_of(cell)
            returns = np.random.default_rng(cell.seed % 2**32 + cell.steps).normal(size=len(points))
            samples = tuple(grid.batch * one for one in points)
            yield cell, Curve(samples, tuple(map(float, returns)), 0)


def raced(tmp_path: Path, run: OwnRun, seeds: int = 0):
    race = planned()
    race = type(race)(
        race.request, race.costs, race.known, race.schedule._replace(seeds=seeds), (run,)
    )
    return hold_race(race, open_run(tmp_path / "advice", {}, "advise"), runner=Draws())


@pytest.mark.parametrize("best", [4, 16])
def test_given_trainings_decide_like_those_of_the_race(tmp_path: Path, best: int) -> None:
    evidence = raced(tmp_path, made_up({4: 0.2, 16: 0.2, best: 1.0}))
    judged = evidence.judged()
    assert judged.learnt and evidence.race.known.steps[judged.best] == best
    assert evidence.trainings == evidence.samples == 0 and len(evidence.curves) == 6


def test_a_given_curve_is_read_at_the_points_of_the_race(tmp_path: Path) -> None:
    evidence = raced(tmp_path, made_up({4: 0.5, 16: 0.5}))
    race = evidence.race
    for cell, curve in evidence.curves.items():
        plan = race.grid([cell.seed], [cell.steps]).plan(cell)
        assert curve.samples == tuple(64 * one for one in plan.stages)
        assert np.ptp(curve.returns[1:]) < 1e-9


def test_what_was_given_is_not_trained_again(tmp_path: Path) -> None:
    """Seeds that are given are left to those; others are new."""
    first = planned()
    again = first.seeds[0]
    curves = made_up({4: 0.2, 16: 0.9}, seeds=1).curves
    run = OwnRun(
        Path("own"), "a sweep", {}, 2560, {c._replace(seed=again): v for c, v in curves.items()}
    )
    evidence = raced(tmp_path, run, seeds=2)
    assert evidence.race.seeds == first.seeds[1:3] and len(evidence.own) == 4
    assert np.isfinite(evidence.gains).all() and evidence.gains.shape == (2, 3)


def test_trainings_that_are_too_short_or_not_compared_are_left_out(tmp_path: Path) -> None:
    levels = {4: 0.2, 16: 0.9}
    short = made_up(levels, total=320)
    with pytest.raises(UsageError, match=r"no training of own counts.*shorter than the part"):
        raced(tmp_path, short)
    mixed = OwnRun(Path("own"), "a sweep", {}, 2560, {**made_up({**levels, 8: 0.5}).curves})
    evidence = raced(tmp_path, mixed)
    assert evidence.tried == (4, 16)
    assert "3 of 9: T = 8 is not compared" in evidence.left_out[0]


def test_one_layout_alone_compares_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="compare nothing"):
        raced(tmp_path, made_up({4: 0.5}))


def test_with_annealing_the_length_must_be_the_one_asked_for(tmp_path: Path) -> None:
    race = planned(settings=PPOSettings(network="table", anneal=True))
    run = made_up({4: 0.5}, total=25_600)
    cell = next(iter(run.curves))
    plan = race.grid([cell.seed], [4]).plan(cell)
    assert "annealing" in run.curve(cell, plan, 0.0, played=True)


def test_a_sweep_is_evidence_and_the_answer_says_so(sweep: Path, tmp_path: Path) -> None:
    asked = {**ASKED, "trainings": 0, "runs": [sweep], "out": tmp_path / "advice"}
    advice = nbyt.advise("FrozenLake-v1", **asked)
    race = advice.data["race"]
    assert race["given"] == [{"path": str(sweep), "holds": "a sweep", "trainings": 4}]
    assert advice.cost.trainings == 0 and sum(len(arm["seeds"]) for arm in race["arms"]) == 4
    said = " ".join(str(advice).split())
    assert "the first quarters of 4 trainings" in said and "no layout was trained" not in said
    assert f"--from {sweep}" in advice.data["reproduce"]
    assert "first quarters of 4 trainings" in " ".join(advice.report.read_text().split())


def test_a_training_counts_and_its_stages_explain(tmp_path: Path) -> None:
    from nbyt.training.loop import train
    from nbyt.training.plan import PPOPlan

    layout = make_advice_request(LAKE, **ASKED).layout(16)
    plan = PPOPlan(LAKE.id, layout, 2560, 5, SETTINGS, (40,))
    folder = open_run(tmp_path / "own", plan.identity())
    train(plan, folder, env=LAKE)
    runs, stages = own_runs([folder.path])
    assert [cell for run in runs for cell in run.curves] == [Cell(4, 16, 5)]
    assert [path.name for path in stages] == ["stage-40"] or len(stages) == 1
    evidence = raced(tmp_path, runs[0], seeds=1)
    assert len(evidence.own) == 2 and len(evidence.given[runs[0]]) == 1
    assert evidence.untrained[5] == pytest.approx(evidence.curves[Cell(4, 16, 5)].returns[0], abs=1)


def test_an_interrupted_race_with_evidence_goes_on_as_if_nothing_had_happened(
    sweep: Path, tmp_path: Path
) -> None:
    runs, _ = own_runs([sweep])
    race = planned()
    race = type(race)(race.request, race.costs, race.known, race.schedule, tuple(runs))

    stopped = open_run(tmp_path / "stopped", {}, "advise")
    partial = hold_race(race, stopped, runner=Draws(last=1))
    assert partial.interrupted and partial.judgeable  # by what was given
    whole = hold_race(race, open_run(tmp_path / "whole", {}, "advise"), runner=Draws())
    again = hold_race(race, stopped, runner=Draws())
    assert again.curves == whole.curves and again.judged() == whole.judged()
    assert len(stopped.present(CELL)) == len(again.own)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"batch": 128}, "batch: 64 -> 128"),
        ({"epochs": 2}, "epochs: 4 -> 2"),
        ({"settings": PPOSettings(network="table", gamma=0.9)}, "gamma: 0.99 -> 0.9"),
    ],
)
def test_other_settings_are_refused_by_name(sweep: Path, changed: dict, said: str) -> None:
    runs, _ = own_runs([sweep])
    require_same(make_advice_request(LAKE, **ASKED), runs)
    with pytest.raises(UsageError, match="other settings than are asked for") as refused:
        require_same(make_advice_request(LAKE, **{**ASKED, **changed}), runs)
    assert said in str(refused.value)


def test_another_sweep_in_the_same_place_is_other_evidence(sweep: Path) -> None:
    (run,), _ = own_runs([sweep])
    assert run.fingerprint == own_runs([sweep])[0][0].fingerprint
    assert run.fingerprint != made_up({4: 0.5}).fingerprint


def test_what_is_not_finished_or_of_another_kind_is_refused(tmp_path: Path, sweep: Path) -> None:
    identity = json.loads((sweep / "nbyt-run.json").read_text())["facts"]["identity"]
    begun = open_run(tmp_path / "begun", identity, "sweep")
    with pytest.raises(StoreError, match="holds no finished sweep"):
        own_runs([begun.path])
    training = {"algo": "ppo", "env": LAKE.id, "seed": 0, "layout": {"envs": 4, "steps": 16}}
    with pytest.raises(StoreError, match="not finished"):
        own_runs([open_run(tmp_path / "training", training).path])
    with pytest.raises(UsageError, match="a training of dqn"):
        own_runs([open_run(tmp_path / "dqn", {**training, "algo": "dqn"}).path])
    with pytest.raises(UsageError, match="holds a study"):
        own_runs([open_run(tmp_path / "study", {"study": "post"}, "reproduce").path])


def test_a_stage_is_no_run_and_sources_are_named_once(tmp_path: Path) -> None:
    stage = tmp_path / "stage-3"
    stage.mkdir()
    assert own_runs([stage]) == ([], [stage])
    run = OwnRun(tmp_path / "own", "a training", {}, 0, {})
    stages = [str(tmp_path / "own" / "stage-1"), str(stage), ""]
    assert sources_of([run], stages) == [str(run.path), str(stage)]
    assert Folder(tmp_path).present(CELL) == []
