"""Laws of the ranking over stages, and of the weights that stages have in it."""

import numpy as np
import pytest

from nbyt.advice import rank
from nbyt.advice.rank import (
    Evidence,
    StageEvidence,
    chosen,
    learning_weights,
    sample_weights,
    summed_areas,
)
from nbyt.stats.estimate import Estimate

LAYOUTS = ((64, 1), (8, 8), (1, 64))


def _stage(name, alignments, *, weight=1.0, spread=0.05, seed=0):
    """A stage with these alignments: gradients of length 1 without noise, at such angles."""
    alignments = np.array(alignments, float)
    luck = spread * np.random.default_rng(seed).normal(size=(1001, len(alignments)))
    luck[0] = 0.0
    along = np.sign(alignments + luck) * np.sqrt(np.abs(alignments + luck))
    evidence = Evidence((1, 8, 64), along, np.ones_like(along), np.zeros_like(along))
    estimates = tuple(Estimate(s, s - 2 * spread, s + 2 * spread, 128) for s in alignments)
    return StageEvidence(name, weight, evidence, estimates, estimates)


def _answer(*stages, price=None):
    return rank.answer(stages, LAYOUTS, price)


def _price(seconds, error):
    luck = error * np.random.default_rng(2).normal(size=(1001, len(seconds)))
    luck[0] = 0.0
    return np.array(seconds) * np.exp(luck)


def test_more_envs_help_where_noise_is_what_loses() -> None:
    rows = np.ones((3, 1))
    evidence = Evidence((8,), rows, rows, 64 * rows)
    assert evidence.aligned([64])[0, 0] == pytest.approx(1 / 2)
    assert evidence.aligned([8])[0, 0] == pytest.approx(1 / 9)


def test_the_best_on_average_over_stages_wins() -> None:
    found = _answer(_stage("early", [0.2, 0.9, 1.0]), _stage("late", [0.2, 1.0, 0.3], seed=1))
    assert (found.best.envs, found.best.steps) == (8, 8)
    assert found.best.win_share > 0.95 and not found.ties and not found.open
    assert found.place(1).regret.value == pytest.approx(1 - 0.2 / 0.95)


def test_a_stage_counts_by_the_samples_it_stands_for() -> None:
    stages = [_stage("early", [0.2, 0.5, 1.0], weight=9), _stage("late", [0.2, 1.0, 0.3], seed=1)]
    assert _answer(*stages).best.steps == 64


def test_layouts_that_the_draws_do_not_order_are_tied() -> None:
    found = _answer(_stage("early", [0.5, 0.95, 1.0], spread=0.1))
    assert [place.steps for place in found.ties] == [8]
    assert _answer(_stage("early", [1.0, 0.98, 1.0], spread=0.5)).open


def test_a_stage_that_orders_nothing_is_left_out_and_named() -> None:
    found = _answer(_stage("early", [0.2, 0.5, 1.0]), _stage("late", [1e-9, -1e-9, -1e-9]))
    assert found.left_out == ("late",)
    assert found.best.steps == 64


def test_a_gradient_that_points_away_is_called_harmful_where_it_does() -> None:
    found = _answer(_stage("early", [-0.5, 0.5, 1.0]), _stage("late", [0.1, 0.9, 1.0], seed=1))
    assert found.place(1).harmful == ("early",)
    assert found.best.harmful == ()


def test_dear_updates_change_the_answer_per_second() -> None:
    stage = _stage("early", [0.6, 0.8, 1.0])
    assert _answer(stage).best.steps == 64
    assert _answer(stage, price=_price([0.1, 1.0, 10.0], 0.05)).best.steps == 1


def test_uncertain_seconds_make_ties() -> None:
    stage = _stage("early", [0.9, 0.5, 1.0], spread=1e-3)
    assert not _answer(stage, price=_price([1.0, 1.0, 1.3], 0.01)).ties
    assert _answer(stage, price=_price([1.0, 1.0, 1.3], 0.5)).ties


def test_it_says_how_many_more_chains_would_tell() -> None:
    found = _answer(_stage("early", [0.7, 0.95, 1.0], spread=0.2))
    assert found.place(1).tied and 1 < found.more_needed() < 4
    again = _answer(_stage("early", [0.7, 0.95, 1.0], spread=0.2 / found.more_needed() ** 0.5))
    assert again.place(1).gap.low == pytest.approx(0, abs=0.03)


def test_the_order_in_which_stages_come_changes_nothing() -> None:
    stages = [_stage("early", [0.2, 0.9, 1.0]), _stage("late", [0.2, 1.0, 0.3], seed=1)]
    one, other = _answer(*stages), _answer(*reversed(stages))
    for first, second in zip(one.places, other.places, strict=True):
        assert first.steps == second.steps and first.win_share == second.win_share
        assert first.relative.value == pytest.approx(second.relative.value)


def test_a_stage_stands_for_the_samples_nearest_to_it() -> None:
    assert sample_weights([10, 20, 60]).tolist() == [15, 25, 20]
    assert sample_weights([10]).tolist() == [10]


def test_weights_are_the_area_between_the_curve_and_its_best() -> None:
    found = learning_weights([10, 20, 40], [0.0, 8.0, 10.0])
    # Gaps 10, 2, 0 at the stages, straight lines between them, and the first one before it.
    assert found == pytest.approx([10 * 10 + 5 * 8, 5 * 4 + 10 * 1.5, 10 * 0.5])
    assert found.sum() == pytest.approx(10 * 10 + 10 * 6 + 20 * 1)


def test_a_run_that_has_arrived_counts_little_however_long_it_goes_on() -> None:
    early, late = learning_weights([10, 1000], [0.0, 100.0])
    samples = sample_weights([10, 1000])
    assert early / late > 2.5 * samples[0] / samples[1]
    arrived = learning_weights([10, 20, 1000], [0.0, 100.0, 100.0])
    assert arrived[2] == 0


def test_without_returns_or_progress_samples_decide() -> None:
    samples = [10, 20, 60]
    plain = sample_weights(samples)
    assert np.array_equal(learning_weights(samples, [1.0, None, 2.0]), plain)
    assert np.array_equal(learning_weights(samples, [3.0, 3.0, 3.0]), plain)


def test_chosen_stages_are_two_late_ones_and_those_of_equal_parts() -> None:
    samples = np.arange(1, 13)
    assert chosen(np.ones(12), samples, 6) == [1, 4, 7, 10, 11]
    assert chosen(np.r_[100.0, np.ones(11)], samples, 4) == [0, 7, 11]
    assert chosen(np.ones(12), samples, 1) == [11]
    assert chosen(np.ones(12), samples, 2) == [7, 11]


def test_no_area_is_lost_with_the_stages_that_are_not_chosen() -> None:
    areas, samples = np.arange(1.0, 6.0), [1, 2, 3, 5, 8]
    found = summed_areas(areas, samples, [1, 4])
    assert found.tolist() == [1 + 2 + 3 + 4, 5] and found.sum() == areas.sum()
