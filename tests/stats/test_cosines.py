"""Laws of cosines between gradients: known values, the ratio they stand for, and their floor."""

import math

import numpy as np
import pytest

from nbyt_studies.comparisons import (
    batch_gram,
    cosine_matrix,
    expected_cosine,
    mean_cosine,
    noise_cosine,
    random_cosine,
)


def _vectors(seed: int, count: int, size: int, along: float) -> np.ndarray:
    """Independent normal vectors with unit spread in every direction, and a mean."""
    found = np.random.default_rng(seed).normal(size=(count, size))
    found[:, 0] += along
    return found


def _gram(vectors: np.ndarray) -> np.ndarray:
    return vectors @ vectors.T


def test_cosines_of_known_vectors() -> None:
    found = cosine_matrix(_gram(np.array([[1.0, 0.0], [3.0, 3.0], [0.0, -2.0], [0.0, 0.0]])))
    half = math.sqrt(0.5)
    np.testing.assert_allclose(found[:3, :3], [[1, half, 0], [half, 1, -half], [0, -half, 1]])
    assert np.isnan(found[3]).all() and np.isnan(found[:, 3]).all()


def test_the_gram_matrix_of_batches_is_that_of_their_means() -> None:
    vectors = _vectors(0, 12, 5, 1.0)
    means = vectors.reshape(4, 3, 5).mean(axis=1)
    np.testing.assert_allclose(batch_gram(_gram(vectors), 3), _gram(means))


def test_the_mean_cosine_is_about_the_squared_mean_over_the_mean_square() -> None:
    vectors = _vectors(1, 400, 200, math.sqrt(50.0))
    truth = 50 / (50 + 200)
    for found in (mean_cosine(_gram(vectors)), expected_cosine(_gram(vectors))):
        assert found.low is not None and found.high is not None
        assert found.low < truth < found.high
        assert found.high - found.low < 0.1


def test_intervals_of_the_mean_cosine_hold_the_truth() -> None:
    cosines = cosine_matrix(_gram(_vectors(2, 2000, 6, 1.5)))
    truth, held = float(np.mean(cosines[~np.eye(2000, dtype=bool)])), 0
    for seed in range(200):
        found = mean_cosine(_gram(_vectors(100 + seed, 24, 6, 1.5)))
        assert found.low is not None and found.high is not None
        held += found.low <= truth <= found.high
    assert held >= 180


def test_the_length_of_a_vector_does_not_matter() -> None:
    vectors = _vectors(3, 10, 4, 1.0)
    longer = vectors * np.linspace(1, 50, 10)[:, None]
    first, second = mean_cosine(_gram(vectors)), mean_cosine(_gram(longer))
    assert first.value == pytest.approx(second.value)
    assert expected_cosine(_gram(longer)).value != pytest.approx(first.value, rel=0.01)


def test_vectors_that_are_zero_are_left_out() -> None:
    vectors = _vectors(4, 8, 4, 1.0)
    more = np.concatenate([vectors, np.zeros((3, 4))])
    assert mean_cosine(_gram(more)).value == pytest.approx(mean_cosine(_gram(vectors)).value)
    assert mean_cosine(_gram(more[6:])).value is None
    assert expected_cosine(np.zeros((4, 4))).value is None


@pytest.mark.parametrize(("dimension", "truth"), [(1, 1.0), (2, 2 / math.pi), (3, 0.5)])
def test_random_directions_have_the_known_mean_absolute_cosine(
    dimension: int, truth: float
) -> None:
    assert random_cosine(float(dimension)) == pytest.approx(truth)
    sampled = mean_cosine(_gram(_vectors(5, 400, dimension, 0.0)), absolute=True)
    assert sampled.value == pytest.approx(truth, abs=0.02)


def test_in_many_dimensions_it_is_the_root_of_two_over_pi_d() -> None:
    assert random_cosine(4482.0) == pytest.approx(math.sqrt(2 / (math.pi * 4482)), rel=1e-3)
    assert random_cosine(math.inf) == 0.0


def test_noise_alone_does_not_see_the_mean() -> None:
    gram = _gram(_vectors(6, 400, 3, 20.0))
    agreed, noise = mean_cosine(gram, absolute=True), noise_cosine(gram)
    assert agreed.value is not None and agreed.value > 0.98
    assert noise.low is not None and noise.high is not None
    assert noise.low < 0.5 < noise.high
