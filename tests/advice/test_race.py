"""The race: what each arm trains, that its seeds are paired, and that nothing is lost."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.advice.races import made_up, planned

from nbyt.advice.race import Evidence, hold_race
from nbyt.errors import EnvError
from nbyt.stats.prior import Schedule
from nbyt.store.files import CELL
from nbyt.store.run import Folder, open_run
from nbyt.sweeps.cells import InProcessRunner
from nbyt.sweeps.grid import Cell


def opened(path: Path) -> Folder:
    return open_run(path, {}, "advise")


def test_for_the_same_samples_every_arm_makes_a_quarter_of_the_updates() -> None:
    race = planned("samples")
    assert race.updates(4) == race.updates(16) == (40, 10)
    assert sum(race.spent(t, race.updates(t)[1]) for t in (4, 16)) == pytest.approx(0.5)


def test_for_the_same_time_an_arm_makes_the_updates_that_its_cost_allows() -> None:
    race = planned()
    # The unit is a training with T = 32, or the longest T if all are shorter.
    assert race.updates(16)[0] == 40
    assert race.updates(4) == (64, 16)
    for steps in (4, 16):
        assert race.spent(steps, race.updates(steps)[1]) == pytest.approx(0.25, abs=0.01)


def test_arms_have_the_same_seeds_and_a_longer_race_begins_with_them() -> None:
    short = planned()
    longer = replace(short, schedule=Schedule((4, 16), 8))
    assert longer.seeds[:4] == short.seeds
    cells = short.grid(short.seeds).cells
    assert {cell.seed for cell in cells if cell.steps == 4} == set(short.seeds)
    assert {cell.seed for cell in cells if cell.steps == 16} == set(short.seeds)
    assert planned(seed=1).seeds != short.seeds


def test_annealing_goes_by_the_whole_training() -> None:
    race = planned("samples")
    grid = race.grid(race.seeds)
    plan = grid.plan(grid.cells[0])
    assert plan.updates == 40 and plan.stages[-1] == 10


@pytest.mark.parametrize("best", [4, 16])
def test_the_planted_best_arm_wins(best: int) -> None:
    race = planned()
    judged = made_up(race, {4: 0.2, 16: 0.2, best: 1.0}).judged()
    assert judged.learnt and race.known.steps[judged.best] == best
    places = dict(zip(judged.places, judged.losses, strict=True))
    other = race.known.steps.index(4 if best == 16 else 16)
    assert places[other].value > places[judged.best].value


def test_nothing_is_ranked_where_nothing_was_learnt() -> None:
    race = planned()
    evidence = made_up(race, {4: 0.0, 16: 0.0})
    assert not evidence.judged().learnt


def test_an_arm_without_some_seeds_counts_with_those_it_has() -> None:
    race = planned()
    evidence = made_up(race, {4: 0.2, 16: 1.0})
    lost = [cell for cell in evidence.curves if cell.steps == 4][:2]
    for cell in lost:
        del evidence.curves[cell]
    assert np.isnan(evidence.gains).sum() == 2 and evidence.judgeable
    assert race.known.steps[evidence.judged().best] == 16
    assert [len(arm.seeds) for arm in evidence.arms()] == [2, 4]


def test_what_was_spent_is_what_was_trained() -> None:
    race = planned("samples")
    evidence = made_up(race, {4: 1.0, 16: 1.0})
    assert evidence.trainings == pytest.approx(2.0)
    assert evidence.samples == 8 * 640


def test_a_race_is_held_once_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    race = planned("samples")
    folder = opened(tmp_path / "whole")
    heard: list[tuple[int, float]] = []

    def watch(evidence: Evidence) -> None:
        heard.append((len(evidence.curves), evidence.done))

    whole = hold_race(race, folder, watch=watch)
    assert heard == sorted(heard) and {4, 8} <= {count for count, _ in heard}
    assert heard[-1] == (8, 1.0) and whole.over and len(folder.present(CELL)) == 8

    class Stops(InProcessRunner):
        def run(self, grid, jobs, watch):
            for number, outcome in enumerate(super().run(grid, jobs, watch)):
                if number == 3:
                    raise KeyboardInterrupt
                yield outcome

    stopped = opened(tmp_path / "stopped")
    partial = hold_race(race, stopped, runner=Stops())
    assert partial.interrupted and 0 < len(partial.curves) < 8 and partial.judgeable
    again = hold_race(race, stopped)
    assert again.curves == whole.curves and not again.interrupted
    # Nothing is trained a second time.
    assert hold_race(race, folder, runner=_Refuses()).curves == whole.curves


class _Refuses:
    """A runner that has nothing to do."""

    def run(self, grid, jobs, watch):
        assert not jobs, "trained again"
        yield from ()


def test_an_interruption_before_two_arms_have_trained_ends_the_race(tmp_path: Path) -> None:
    class Stops:
        def run(self, grid, jobs, watch):
            raise KeyboardInterrupt
            yield

    with pytest.raises(KeyboardInterrupt):
        hold_race(planned(), opened(tmp_path / "advice"), runner=Stops())


def test_an_env_that_fails_ends_the_race_with_its_own_words(tmp_path: Path) -> None:
    class Fails:
        def run(self, grid, jobs, watch):
            for job in jobs:
                for cell in job:
                    yield cell, EnvError("the cable is gone", where="env 3")

    with pytest.raises(EnvError, match="the cable is gone"):
        hold_race(planned(), opened(tmp_path / "advice"), runner=Fails())


def test_cells_are_named_by_layout_and_seed() -> None:
    race = planned()
    assert Cell(16, 4, race.seeds[0]) in race.grid(race.seeds).cells
