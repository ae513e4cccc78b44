"""Laws of the stages' weights."""

import numpy as np
import pytest

from nbyt.advice.rank import chosen, gathered, learning_weights, sample_weights


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
    found = gathered(areas, samples, [1, 4])
    assert found.tolist() == [1 + 2 + 3 + 4, 5] and found.sum() == areas.sum()
