"""What a sweep shows: equal samples, equal seconds, ties, the advice; and sweeps with holes."""

import json
import random
from typing import Any

import numpy as np
import pytest
from tests.sweeps.made_up import (
    STEPS,
    costs_of,
    curves_of,
    failure,
    grid_of,
    summary,
)

from nbyt.results import plain
from nbyt.results.values import Estimate as EstimateRecord
from nbyt.results.values import typed
from nbyt.stats.estimate import Estimate
from nbyt.stats.runs import FEWEST_TO_COMPARE, iqm
from nbyt.sweeps.advice import Advised, usual_advice
from nbyt.sweeps.grid import Grid
from nbyt.sweeps.layout_comparison import LayoutComparison
from nbyt.sweeps.summary import compare_with_advice

Data = dict[str, Any]


def plain_estimate(estimate: Estimate) -> Data:
    """An estimate as JSON has it."""
    return plain(typed(estimate.as_dict(), EstimateRecord))


def comparison_of(grid: Grid) -> LayoutComparison:
    """Every layout at equal samples."""
    curves = curves_of(grid)
    splits = tuple((one.envs, one.steps) for one in grid.layouts)
    returns = tuple(
        np.array([one.returns for cell, one in curves.items() if cell[:2] == split])
        for split in splits
    )
    seeds = (grid.seeds,) * len(splits)
    return LayoutComparison(splits, seeds, returns, np.random.default_rng(0))


@pytest.fixture(scope="module")
def grid() -> Grid:
    return grid_of()


@pytest.fixture(scope="module")
def whole(grid: Grid) -> Data:
    """The data of a sweep in which everything went well."""
    return summary(grid, curves_of(grid), {}, costs=costs_of(grid), advice=True)


def test_scores_are_iqms_of_the_means_of_the_curves(grid: Grid, whole: Data) -> None:
    curves = curves_of(grid)
    for layout in whole["layouts"]:
        table = np.array([c.returns for cell, c in curves.items() if cell.steps == layout["steps"]])
        own = layout["per_sample"]
        assert own["over_training"]["value"] == pytest.approx(iqm(table.mean(axis=1)))
        assert own["final"]["value"] == pytest.approx(iqm(table[:, -1]))
        assert [one["value"] for one in own["curve"]] == pytest.approx(list(iqm(table, axis=0)))
        low, high = own["over_training"]["low"], own["over_training"]["high"]
        assert low < own["over_training"]["value"] < high


def test_the_best_is_told_apart_from_what_is_clearly_worse(whole: Data) -> None:
    """The curves were made with the best at T = 8, and both ends far below."""
    answer = whole["answer"]["per_sample"]
    assert answer["steps"] == 8
    ties = {steps for _, steps in answer["ties"]}
    assert not ties & {1, 2, 32, 64} and not answer["no_measurable_difference"]
    ends = {one["steps"]: one["per_sample"] for one in whole["layouts"]}
    assert ends[1]["best_wins"]["value"] == 1 and ends[8]["best_wins"] is None
    assert ends[1]["behind"]["low"] > 0.3 and ends[8]["behind"] is None


def test_slow_layouts_lose_time(grid: Grid, whole: Data) -> None:
    """The fastest is the same both ways; T = 64, 8 times as slow, has made an eighth of its way."""
    layouts = {one["steps"]: one for one in whole["layouts"]}
    assert whole["budget"]["steps"] == 1
    assert layouts[1]["per_second"]["scores"] == pytest.approx(layouts[1]["per_sample"]["scores"])
    late = layouts[64]["per_second"]["final"]["value"]
    curve = [one["value"] for one in layouts[64]["per_sample"]["curve"]]
    at = grid.points[-1] / 8
    assert late == pytest.approx(np.interp(at, grid.points, curve), abs=0.1)
    assert whole["answer"]["per_second"]["steps"] < 8


def test_the_usual_t_stands_beside_equal_samples(grid: Grid, whole: Data) -> None:
    """It is the longest, where T = 8 was best: it loses most of what can be learned."""
    one, advised = whole["advice"]["per_sample"], usual_advice(grid)
    assert (one["envs"], one["steps"], one["is_best"]) == (1, 64, False)
    assert (one["envs"], one["steps"]) == advised.split and one["sentence"] == advised.sentence
    assert one["foretold"] == [plain_estimate(advised.losses[64 // t, t]) for t in STEPS]
    # The tops are 0.9 apart, and curves rise to 3/4 of them on average.
    assert one["regret"]["low"] < 0.68 < one["regret"]["high"]
    assert one["regret_share"]["value"] > 0.7


def test_a_replayed_race_stands_beside_equal_seconds(whole: Data) -> None:
    """It saw the first quarters of the same trainings, and is right or nearly."""
    one = whole["advice"]["per_second"]
    best = whole["answer"]["per_second"]["steps"]
    assert abs(np.log2(one["steps"] / best)) <= 1 and "quarter trainings" in one["sentence"]
    assert one["correlation"]["value"] > 0.6 and one["regret_share"]["low"] < 0.1
    # Nothing is said of T = 1, which lies outside of what was raced.
    assert [x is None for x in one["foretold"]] == [t == 1 for t in STEPS]


def test_without_costs_there_is_no_race_and_without_asking_no_advice(grid: Grid) -> None:
    curves = curves_of(grid)
    untimed = summary(grid, curves, {}, costs=None, advice=True)["advice"]
    assert untimed["per_second"] is None and untimed["per_sample"]["steps"] == 64
    assert summary(grid, curves, {}, costs=costs_of(grid), advice=False)["advice"] is None


@pytest.mark.parametrize("best", [1, 8, 64])
def test_an_advice_is_compared_with_what_was_reached(grid: Grid, best: int) -> None:
    """Losses as they were planted, or their opposite: the correlation tells them apart."""
    gaps = {t: (np.log2(t) - 3) ** 2 for t in STEPS}
    for sign in (1, -1):
        losses = {(64 // t, t): Estimate(float(sign * gaps[t]), None, None, 1) for t in STEPS}
        advised = Advised((64 // best, best), "so", losses)
        found = compare_with_advice(advised, comparison_of(grid), 0.0)
        assert found is not None
        assert (found.steps, found.is_best, found.best_wins is None) == (best, *[best == 8] * 2)
        assert sign * found.correlation.value > 0.9
        assert found.regret_share.value == pytest.approx(0.1 * gaps[best], abs=0.1)


def test_the_order_in_which_cells_came_changes_nothing(grid: Grid, whole: Data) -> None:
    cells = list(curves_of(grid).items())
    random.Random(0).shuffle(cells)
    again = summary(grid, dict(cells), {}, costs=costs_of(grid), advice=True)
    assert json.dumps(again, allow_nan=False) == json.dumps(whole, allow_nan=False)


def test_holes_are_told_and_hide_nothing_else(grid: Grid, whole: Data) -> None:
    """One layout failed as a whole, one has a single seed, one misses a few, one is not finite."""
    curves = curves_of(grid)
    failed = {cell: failure() for cell in curves if cell.steps == 64}
    gone = [cell for cell in curves if cell.steps == 32 and cell.seed] + [
        cell for cell in curves if cell.steps == 16 and cell.seed > 5
    ]
    kept = {cell: one for cell, one in curves.items() if cell not in failed and cell not in gone}
    odd = next(cell for cell in kept if cell.steps == 2)
    kept[odd] = kept[odd]._replace(returns=(float("nan"), *kept[odd].returns[1:]))
    data = summary(grid, kept, failed, costs=costs_of(grid), advice=True)
    json.dumps(data, allow_nan=False)
    layouts = {one["steps"]: one for one in data["layouts"]}
    assert layouts[64]["seeds"] == {"finished": [], "failed": 8, "missing": 0}
    assert layouts[64]["per_sample"]["over_training"]["reason"] == "no seed is finished"
    assert layouts[32]["per_sample"]["over_training"]["low"] is None
    assert layouts[32]["per_sample"]["tied_with_best"] is None
    assert layouts[16]["seeds"] == {"finished": list(range(6)), "failed": 0, "missing": 2}
    assert layouts[2]["seeds"] == {"finished": list(range(1, 8)), "failed": 0, "missing": 1}
    assert data["answer"]["per_sample"]["steps"] == 8
    assert len(data["failures"]) == 8 and data["failures"][0]["message"] == failure().message
    # What is whole is as before.
    before = next(one for one in whole["layouts"] if one["steps"] == 4)
    assert layouts[4]["per_sample"]["scores"] == before["per_sample"]["scores"]


def test_nothing_finished_is_no_crash(grid: Grid) -> None:
    failed = {cell: failure() for cell in grid.cells}
    data = summary(grid, {}, failed, costs=None, advice=False)
    assert data["answer"] == {"per_sample": None, "per_second": None}
    assert len(data["failures"]) == len(grid.cells)
    json.dumps(data, allow_nan=False)


@pytest.mark.parametrize(("seeds", "steps"), [(1, (4, 8)), (3, (4, 8)), (4, (8,)), (1, (8,))])
def test_the_smallest_sweeps_have_an_answer(seeds: int, steps: tuple[int, ...]) -> None:
    grid = grid_of(seeds, steps)
    data = summary(grid, curves_of(grid), {}, costs=costs_of(grid), advice=True)
    json.dumps(data, allow_nan=False)
    assert data["answer"]["per_sample"]["steps"] in steps
    answer = data["answer"]["per_sample"]
    assert answer["sentence"] == "No winner is named."
    more = f"{FEWEST_TO_COMPARE - seeds} more of each" if len(steps) > 1 else "nothing to compare"
    assert more in answer["to_settle"]["sentence"]
    assert all(one["per_sample"]["tied_with_best"] in (None, True) for one in data["layouts"])


def test_where_all_are_alike_the_cost_of_finding_out_is_said() -> None:
    """Promise 22: no winner is named, and how many seeds would name one."""
    grid = grid_of(8, (4, 8, 16))
    curves = curves_of(grid_of(8, (8,)), noise=0.3)
    same = {
        cell: curves[cell._replace(envs=8, steps=8, seed=(cell.seed + cell.steps) % 8)]
        for cell in grid.cells
    }
    data = summary(grid, same, {}, costs=None, advice=False)
    answer = data["answer"]["per_sample"]
    assert answer["no_measurable_difference"] and len(answer["ties"]) == 2
    assert "No measurable difference" in answer["sentence"]
    assert answer["to_settle"]["seeds"] is None  # the same seeds: there is no gap at all
    assert data["answer"]["per_second"] is None
