"""Laws of the proving ground: planted rules get what they must, sealed envs teach nothing."""

import json
import re
import runpy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.proving import report, run
from benchmarks.proving.answers import answers, batches, stagger_races
from benchmarks.proving.calibration import POWERS, Said, calibration, powers
from benchmarks.proving.data import Cell, read_cells
from benchmarks.proving.judge import Bench, mean_over_envs, references_for, summary
from benchmarks.proving.live import Live
from benchmarks.proving.prior import prior
from benchmarks.proving.profiles import OBJECTIVES, over_budget, scores
from benchmarks.proving.replay import Choice, Ground, Replay
from benchmarks.proving.rules import FREE, PAID
from benchmarks.proving.tasks import BATCHES, POINTS, SEALED, TASKS
from benchmarks.proving.train import seeds_wanted

from nbyt.errors import UsageError
from nbyt.stats.landscape import losses, noise_of_means, smooth
from nbyt.stats.race import TRUER

EXAMPLES = Path(__file__).parents[2] / "examples"
OPEN = tuple(task.env for task in TASKS if not task.sealed)
STEPS = tuple(2**k for k in range(12))
# What each T reaches of the best in the end.
HEIGHTS = np.array([0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.0, 0.95, 0.9, 0.9, 0.9, 0.9])


def _cell(env: str = "tabular:Taxi-v4", *, noise: float = 0.0, seed: int = 0) -> Cell:
    """A cell whose curves jump to their height at once, so that every score is the height."""
    key = np.random.default_rng(seed)
    returns = np.repeat(HEIGHTS[:, None, None], 16, 1) * np.ones(2 * POINTS + 1)
    returns = returns + noise * key.normal(size=(12, 16, 1))
    returns[:, :, 0] = 0.0
    returns[5:, :, POINTS + 1 :] = np.nan
    training = np.full((12, 16, POINTS), np.nan)
    return Cell(env, 2048, False, 204_800, STEPS, tuple(range(16)), returns, training)


class _Always:
    def __init__(self, steps: int, cost: float = 0.0) -> None:
        self._choice = Choice(steps, cost)

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        return self._choice


@pytest.mark.parametrize(("steps", "loss"), [(1, 0.8), (4, 0.4), (32, 0.0), (2048, 0.1)])
def test_a_planted_rule_loses_what_its_layout_loses(steps: int, loss: float) -> None:
    bench = Bench(Ground(_cell(), "samples"), replays=5)
    row = bench.run("planted", lambda references: _Always(steps), (), 1)
    # Every curve starts at 0, and reaches its height in the first of forty moments of the budget.
    assert row.losses == pytest.approx(np.full(5, loss), abs=0.01)
    assert row.naive == pytest.approx(np.full(5, loss), abs=1e-6)


def test_an_oracle_loses_next_to_nothing_and_the_worst_loses_most() -> None:
    bench = Bench(Ground(_cell(noise=0.1), "samples"), replays=20)
    worst = bench.run("worst", lambda references: _Always(1), (), 0)
    assert bench.oracle.losses.mean() < 0.03
    assert worst.losses.mean() > 0.7


def test_rules_that_know_the_truth_lose_the_most_and_what_the_oracle_loses() -> None:
    bench = Bench(Ground(_cell(noise=0.1), "parallel:16"), replays=20)
    steps, lost = bench.ground.steps, bench.ground.losses
    worst = bench.run("worst", lambda references: _Always(steps[int(lost.argmax())]), (), 0)
    best = bench.run("best", lambda references: _Always(steps[int(lost.argmin())]), (), 0)
    assert np.array_equal(best.losses, bench.oracle.losses)
    every = [bench.run(str(t), lambda references, t=t: _Always(t), (), 0) for t in steps]
    assert worst.losses.mean() == max(row.losses.mean() for row in every)


def test_losses_are_no_gains_however_little_was_learnt() -> None:
    cell = _cell()
    key = np.random.default_rng(0)
    cell.returns[:, :, 1:] = 0.02 * cell.returns[:, :, 1:] + 0.2 * key.normal(size=(12, 16, 1))
    bench = Bench(Ground(cell, "samples"), replays=20)
    assert all(dealt.losses.min() == 0 and dealt.naive.min() == 0 for dealt in bench.deals)


def test_every_rule_keeps_to_its_budget_and_finds_the_plateau() -> None:
    grounds = [
        Ground(_cell(task.env, noise=0.05, seed=k), "parallel:16")
        for k, task in enumerate(TASKS[:4])
    ]
    bench = Bench(grounds[0], replays=4)
    references = references_for(grounds[0].cell.env, grounds, grounds[0])
    for name, learn in FREE.items():
        assert bench.run(name, learn, references, 0).cost == 0
    for name, learn in PAID.items():
        for budget in run.BUDGETS:
            assert bench.run(name, learn, references, budget).cost <= budget


def test_no_sealed_env_is_among_the_references_of_any_rule() -> None:
    known = [_cell(task.env, seed=k) for k, task in enumerate(TASKS) if not task.sealed]
    asked = [_cell(env) for env in SEALED]
    seen: set[str] = set()

    def spy(references: Sequence[Ground]) -> _Always:
        seen.update(one.cell.env for one in references)
        return _Always(32)

    for cell in [*known, *asked]:
        ground = Ground(cell, "samples")
        references = references_for(cell.env, [Ground(one, "samples") for one in known], ground)
        spy(references)
        assert cell.env not in {one.cell.env for one in references}
    assert seen
    assert not seen & set(SEALED)


def test_sealed_cells_teach_nothing_even_if_they_are_handed_over() -> None:
    sealed, own, other = (Ground(_cell(env), "samples") for env in (SEALED[0], *OPEN[:2]))
    everything = [sealed, own, other]
    assert references_for(own.cell.env, everything, own) == [other]
    assert references_for(sealed.cell.env, everything, sealed) == [own, other]
    shipped = prior([one.cell for one in everything], None)
    assert {task.env for task in shipped.tasks} == {own.cell.env, other.cell.env}


def test_reading_cells_leaves_the_sealed_ones_out(tmp_path: Path) -> None:
    path = _table(tmp_path, envs=["tabular:Taxi-v4", SEALED[0]])
    assert {cell.env for cell in read_cells(path)} == {"tabular:Taxi-v4"}
    assert {cell.env for cell in read_cells(path, sealed=True)} == {SEALED[0]}


def test_curves_at_equal_time_stretch_with_the_cost_of_an_update() -> None:
    cell = _cell()
    ramp = np.broadcast_to(cell.samples, (12, 1, 2 * POINTS + 1)).astype(float)
    seen = over_budget(cell, "parallel:16", ramp)[:, 0]
    # An update of T = 512 costs (512 + 16) / (32 + 16) as much as one of T = 32.
    assert seen[5, -1] == pytest.approx(204_800)
    assert seen[9, -1] == pytest.approx(204_800 * 48 / 528)
    # T = 1 would see 48 / 17 of the samples; its curve ends at twice the samples and is held.
    assert seen[0, -1] == pytest.approx(2 * 204_800)
    assert scores(seen[5][None, None], 0.5)[0, 0] == pytest.approx(204_800 / 4)


def test_the_interval_of_the_mean_loss_holds_the_truth_about_as_often_as_it_says() -> None:
    key = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        true_losses = key.gamma(1.0, 0.04, size=12)
        rows = [(str(k), loss + key.normal(0, 0.03, 50)) for k, loss in enumerate(true_losses)]
        low, _, high = mean_over_envs(rows, key)
        held += low <= 0.04 <= high
    # Losses are skewed, and a dozen envs are few: below the 95 % that are meant, and counted.
    assert 0.86 <= held / 300 <= 0.98


@pytest.mark.parametrize("true_best", [3, 7])
def test_what_the_judge_believes_holds_the_true_losses_as_often_as_it_says(true_best: int) -> None:
    key = np.random.default_rng(true_best)
    octaves = np.arange(12.0)
    truth = np.exp(-0.5 * ((octaves - true_best) / 3) ** 2)
    held = []
    for _ in range(60):
        noise = key.normal(0, 0.15, (1, 16)) * 0.6 + key.normal(0, 0.15, (12, 16)) * 0.8
        seen = truth[:, None] + noise
        landscape = smooth(octaves, seen.mean(1), noise_of_means(seen))
        low, high = np.quantile(losses(landscape.draws(400, key), 0.0), [0.05, 0.95], axis=0)
        true = losses(truth, 0.0)
        # The best T loses nothing, which is an end of what can be drawn.
        held.append(((low - 1e-3 <= true) & (true <= high)).mean())
    assert 0.84 <= np.mean(held) <= 0.99


def test_foretelling_with_the_right_noise_is_counted_as_calibrated() -> None:
    key = np.random.default_rng(0)
    said = []
    for number in range(400):
        chance = key.uniform(0.3, 1.0)
        # The share of draws is too small: its square root is how often it comes true.
        loss = 0.0 if key.uniform() < chance**0.5 else 0.2
        safe = (chance, 0.1), (loss == 0.0, False)
        said.append(Said(f"env {number % 8}", chance, loss, 3, (0.5, 0.9), *safe, (-1, np.nan)))
    power = powers(said)
    assert power[""] == pytest.approx(0.5, abs=0.15)
    found = calibration(said, power)
    assert found["stated"] == pytest.approx(found["true"], abs=0.05)
    assert found["brier"] < found["brier_uncorrected"]
    assert found["brier"] < found["brier_of_others_rate"]
    assert found["intervals"] == {"0.5": 0.5, "0.9": 0.9}
    assert found["safe_range"]["precision"] > 0.85
    assert found["repeats"] is None


def test_a_power_is_fitted_without_the_env_that_it_is_for() -> None:
    row = Said("a", 0.5, 0.2, 3, (0.5, 0.9), (0.5,), (False,), (-1, np.nan))
    said = [row] * 5 + [row._replace(env="b", loss=0.0)] * 5
    power = powers(said)
    # On b it always came true, on a never: each is corrected as the other would have it.
    assert power["a"] == min(POWERS)
    assert power["b"] == max(POWERS)


def test_the_power_that_the_product_uses_is_the_one_that_was_fitted() -> None:
    assert pytest.approx(json.loads(run.RESULT.read_text())["power"], abs=0.1) == TRUER


def test_own_returns_hold_the_last_one_and_begin_untrained() -> None:
    cell = _cell()
    cell.training[:, :, 4] = 0.7
    curves = Ground(cell, "samples").own_curves
    assert (curves[5, :, :9] == 0.0).all()
    assert curves[5, :, -1] == pytest.approx(np.full(16, 0.7))


def test_result_has_the_promised_keys() -> None:
    result = json.loads(run.RESULT.read_text())
    assert result["cells"]
    assert set(result["sealed"]) == set(SEALED)
    for name in (*FREE, *PAID):
        for objective, budgets in result["rivals"][name].items():
            assert objective in OBJECTIVES
            for row in budgets.values():
                assert set(row["loss"]) == {"value", "low", "high"}
                assert row["cost"] >= 0
    assert not {cell["env"] for cell in result["cells"]} & set(SEALED) or result["rivals_sealed"]


def test_the_readme_has_the_tables_of_the_result() -> None:
    text = report.README.read_text()
    assert report.in_readme(text, json.loads(run.RESULT.read_text())) == text


def test_answers_are_given_as_far_as_there_are_cells() -> None:
    cells = [_cell(env, noise=0.05, seed=k) for k, env in enumerate(OPEN[:2])]
    better = [replace(_cell(env, noise=0.05), stagger=True) for env in OPEN[:2]]
    for cell in better:
        cell.returns[:3, :, 1:] += 0.1
    found = answers([*cells, *better])
    assert found["batches"] == dict.fromkeys(found["batches"])
    won = found["stagger"]["samples"]["won"]
    assert won["1"]["value"] == pytest.approx(0.1, abs=0.06)
    assert abs(won["2048"]["value"]) < 0.08


def test_batch_sizes_are_compared_though_one_has_more_seeds_than_another() -> None:
    cells = []
    for env in OPEN[:3]:
        for batch in BATCHES:
            cell = replace(_cell(env, noise=0.05, seed=batch), batch=batch)
            if batch == 2048:
                more = {
                    name: np.repeat(getattr(cell, name), 2, 1) for name in ("returns", "training")
                }
                cell = replace(cell, seeds=tuple(range(32)), **more)
            cells.append(cell)
    found = batches(cells, None, 1.0, "samples")
    assert found is not None
    assert found["loss"]["best of 2048"]["value"] < 0.1


def test_races_with_the_better_starts_lose_less_than_races_with_the_others() -> None:
    cells = [_cell(env, noise=0.05, seed=k) for k, env in enumerate(OPEN[:3])]
    better = [
        replace(_cell(cell.env, noise=0.05, seed=k), stagger=True) for k, cell in enumerate(cells)
    ]
    for cell in better:
        cell.returns[:, :, 1:] += 0.25
    found = stagger_races([*cells, *better], "parallel:16")
    assert found is not None
    assert found["loss"]["staggered"]["value"] < 0.05
    # The best with the other starts misses .25 of 1.25.
    assert found["more_than_staggered"]["together"]["low"] > 0.1
    # Where one kind is so much better, a race over both finds it.
    assert found["loss"]["both"]["value"] < 0.05
    assert stagger_races(cells, "parallel:16") is None


def test_a_rule_of_ones_own_is_judged_in_ten_lines(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "own_rule.py"), run_name="__main__")
    assert re.match(r"loses [\d.]+ % \[[-\d.]+, [\d.]+\] on \d+ envs", capsys.readouterr().out)


def test_a_rule_outside_the_cell_or_over_its_budget_is_refused() -> None:
    bench = Bench(Ground(_cell(), "samples"), replays=1)
    with pytest.raises(UsageError, match=r"names T = 3.*\n?.*planted on Taxi-v4"):
        bench.run("planted", lambda references: _Always(3), (), 1)
    with pytest.raises(UsageError, match=r"spent 2 trainings of a budget of 1.*\n?.*planted on"):
        bench.run("planted", lambda references: _Always(32, cost=2.0), (), 1)


def test_training_what_the_cell_does_not_have_is_refused_with_cell_and_rule() -> None:
    class Curious:
        def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
            cell.train(3, 0)
            return Choice(1, 0.0)

    bench = Bench(Ground(_cell(), "samples"), replays=1)
    with pytest.raises(UsageError, match=r"T = 3.*\n?.*curious on Taxi-v4"):
        bench.run("curious", lambda references: Curious(), (), 1)


def test_cells_with_missing_seeds_or_nan_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"T = 1 has no training with seed 3.*Taxi-v4"):
        read_cells(_table(tmp_path, envs=["tabular:Taxi-v4"], without=(1, 3)))
    with pytest.raises(UsageError, match=r"T = 2 has a point that is not a number"):
        read_cells(_table(tmp_path, envs=["tabular:Taxi-v4"], spoiled=(2, 1)))


def test_a_live_training_has_the_curve_of_a_recorded_one_and_costs_as_much() -> None:
    cell = next(one for one in read_cells() if (one.env, one.batch) == ("tabular:Taxi-v4", 2048))
    recorded = Replay(Ground(cell, "parallel:16"), (0, 1, 2))
    live = Live(Ground(cell, "parallel:16"), (0, 1, 2))
    for replay in (recorded, live):
        replay.train(64, 0, 0.25)
        replay.train(64, 0, 0.5)
    assert live.spent == recorded.spent == 0.5
    ours, theirs = (replay.train(64, 0) for replay in (live, recorded))
    assert ours.shape == theirs.shape
    assert ours[0] == pytest.approx(cell.untrained, rel=0.2)
    spread = np.ptp(Ground(cell, "parallel:16").curves[cell.steps.index(64)])
    assert np.abs(ours - theirs).mean() < spread / 2


def test_seeds_follow_from_the_precision_that_is_wanted() -> None:
    sure, noisy = _cell(noise=0.001), _cell("gymnax:FourRooms-misc", noise=1.0)
    assert seeds_wanted(sure) == 16
    assert seeds_wanted(noisy) > 16 and seeds_wanted(noisy) % 16 == 0


def test_the_summary_counts_envs_once_however_many_cells_they_have() -> None:
    one, two = Ground(_cell(), "samples"), Ground(_cell("gymnax:Acrobot-v1"), "samples")
    rows = [
        Bench(one, 2).run("a", lambda references: _Always(1), (), 0),
        Bench(one, 2).run("a", lambda references: _Always(1), (), 0),
        Bench(two, 2).run("a", lambda references: _Always(32), (), 0),
    ]
    found = summary(rows, np.random.default_rng(0))
    assert found["loss"]["value"] == pytest.approx(0.4, abs=0.01)
    assert (found["cells"], found["envs"]) == (3, 2)


def _table(
    folder: Path,
    *,
    envs: Sequence[str],
    without: tuple[int, int] | None = None,
    spoiled: tuple[int, int] | None = None,
) -> Path:
    head = ["env", "batch", "stagger", "total", "envs", "steps", "seed"]
    head += [f"return_{k}" for k in range(2 * POINTS + 1)]
    head += [f"training_{k}" for k in range(1, POINTS + 1)]
    lines = [",".join(head)]
    for env in envs:
        for steps in (1, 2, 32):
            for seed in range(4):
                if (steps, seed) == without:
                    continue
                points = 2 * POINTS if steps < 32 else POINTS
                returns = [str(k) for k in range(points + 1)]
                if (steps, seed) == spoiled:
                    returns[3] = "nan"
                returns += [""] * (2 * POINTS + 1 - len(returns))
                row = [env, "2048", "0", "204800", str(2048 // steps), str(steps), str(seed)]
                lines.append(",".join([*row, *returns, *[""] * POINTS]))
    path = folder / "cells.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
