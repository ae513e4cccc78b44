"""Laws of smoothed scores: what is known stays, what is noise shrinks, intervals hold the truth."""

import numpy as np
import pytest

from nbyt.stats.landscape import losses, matern, noise_of_means, smooth

OCTAVES = np.arange(12.0)


def test_scores_without_noise_stay_as_they_are() -> None:
    means = np.array([0.0, 0.3, 0.7, 0.9, 1.0, 1.0, 0.95, 0.9, 0.9, 0.9, 0.8, 0.7])
    landscape = smooth(OCTAVES, means, 1e-10 * np.eye(12))
    assert landscape.mean == pytest.approx(means, abs=1e-4)


def test_a_lone_noisy_peak_is_pulled_to_its_neighbours() -> None:
    means = np.ones(12)
    means[5] = 1.3
    landscape = smooth(OCTAVES, means, 0.2**2 * np.eye(12))
    assert 1.0 <= landscape.mean[5] < 1.15


def test_the_noise_of_means_is_that_of_repeated_draws() -> None:
    key = np.random.default_rng(0)
    truth = 0.2**2 * (0.6 + 0.4 * np.eye(6))
    draws = key.multivariate_normal(np.zeros(6), truth, (400, 16))
    found = np.mean([noise_of_means(one.T) for one in draws], axis=0)
    assert found == pytest.approx(truth / 16, rel=0.12)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    key = np.random.default_rng(1)
    held = []
    for _ in range(200):
        truth = key.multivariate_normal(np.zeros(12), matern(OCTAVES, OCTAVES, 2.0))
        seeds = key.normal(size=16) * 0.2 + key.normal(size=(12, 16)) * 0.3
        scores = truth[:, None] + seeds
        landscape = smooth(OCTAVES, scores.mean(1), noise_of_means(scores))
        half = 1.96 * np.sqrt(np.diag(landscape.covariance))
        held.append(np.abs(landscape.mean - truth) <= half)
    assert 0.9 <= np.mean(held) <= 0.98


def test_the_best_layout_loses_nothing_and_an_untrained_one_everything() -> None:
    assert losses(np.array([1.0, 3.0, 5.0]), 1.0) == pytest.approx([1.0, 0.5, 0.0])
