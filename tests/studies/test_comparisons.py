"""Numbers of a layout, cosines between batches, and energy distances."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats
from tests.stats.gradient_vectors import Vectors

from nbyt.stats.ranking import Candidate
from nbyt_studies.comparisons import (
    batch_gram,
    cosine_matrix,
    energy_kernel,
    energy_of,
    expected_cosine,
    mean_cosine,
    noise_cosine,
    random_cosine,
    training_numbers,
)


def vectors(seed: int, steps: int = 4, chains: int = 32) -> Vectors:
    """Chains whose steps share a part, around a mean that is not the reference's."""
    generator = np.random.default_rng(seed)
    shared = generator.normal(size=(chains, 6, 1, 5))
    own = generator.normal(size=(chains, 6, steps, 5))
    references = 3.0 + 0.1 * generator.normal(size=(chains, 5))
    return Vectors(shared + own + 2.0, references, np.zeros(chains, int))


@pytest.fixture
def many() -> Candidate:
    return Candidate(vectors(0).products(), 8)


def test_numbers_of_a_training_are_those_of_the_definitions(many: Candidate) -> None:
    found = training_numbers(many)
    half = training_numbers(Candidate(many.products, 4))
    assert half["variance"] == pytest.approx(2 * found["variance"], rel=1e-4)
    assert half["individual"] == pytest.approx(2 * found["individual"], rel=1e-4)
    assert half["covariance_share"] == found["covariance_share"]
    # A step has variance 2, four of them share 1: individual 2/4 of 1 + 1/4.
    assert found["covariance_share"] == pytest.approx(0.6, abs=0.1)
    # The mean is 2 in each of 5 directions, the reference 3.
    assert found["progress"] == pytest.approx(20, rel=0.1)
    assert found["signal"] == pytest.approx(found["progress"] / found["variance"], rel=1e-3)
    assert found["relative_bias"] == pytest.approx((1.0 / 3.0) ** 2, abs=0.05)


def test_progress_against_the_true_gradient_is_negative() -> None:
    ahead = vectors(0)
    back = Vectors(ahead.contributions, -ahead.references, ahead.blocks)
    found = [training_numbers(Candidate(one.products(), 8))["progress"] for one in (ahead, back)]
    assert found[1] == pytest.approx(-found[0])


def test_what_would_divide_by_zero_is_undetermined() -> None:
    empty = vectors(1)
    silent = Vectors(empty.contributions, 0 * empty.references, empty.blocks)
    assert training_numbers(Candidate(silent.products(), 8))["relative_bias"] is None


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


def chains(generator, n, k, shift=0.0, d=1):
    """Points of a chain share half of their variance."""
    common = generator.normal(size=(n, 1, d))
    return (common + generator.normal(size=(n, k, d))) / np.sqrt(2) + shift


def test_the_kernel_is_the_definition() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(3, 2, 2)), generator.normal(size=(3, 2, 2))

    def away(a, b):
        return np.mean([np.linalg.norm(p - q) for p in a for q in b])

    by_hand = away(x[0], y[1]) + away(x[1], y[0]) - away(x[0], x[1]) - away(y[0], y[1])
    assert energy_kernel(x, y)[0, 1] == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("shared", [False, True])
def test_equal_laws_give_zero_in_expectation(shared) -> None:
    """Also where the points of a chain depend on each other, and pairs of chains on each other."""
    generator = np.random.default_rng(1)
    found = []
    for _ in range(400):
        x = chains(generator, 24, 4)
        y = x + 0.0 if shared else chains(generator, 24, 4)
        found.append(energy_of(energy_kernel(x, y)).value)
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found)) <= 3.5 * error


def test_intervals_cover_zero_and_the_known_distance() -> None:
    """N(0, 1) against N(1, 1): E|X - Y| of normals is that of a folded normal."""
    folded = 2 * scipy_stats.foldnorm.mean(1 / np.sqrt(2), scale=np.sqrt(2))
    truth = {0.0: 0.0, 1.0: folded - 2 * 2 / np.sqrt(np.pi)}
    generator = np.random.default_rng(2)
    for shift, value in truth.items():
        inside, means = 0, []
        for _ in range(300):
            kernel = energy_kernel(chains(generator, 64, 3), chains(generator, 64, 3, shift))
            found = energy_of(kernel)
            inside += found.low <= value <= found.high
            means.append(found.value)
        error = np.std(means) / np.sqrt(len(means))
        assert abs(np.mean(means) - value) <= 3.5 * error
        assert inside >= 0.91 * 300, shift
        assert found.approximate == (shift == 0)


def test_shared_luck_makes_it_sharper() -> None:
    generator = np.random.default_rng(3)
    x = chains(generator, 64, 2)
    near = energy_of(energy_kernel(x, x + 0.1))
    apart = energy_of(energy_kernel(x, chains(generator, 64, 2, 0.1)))
    assert near.high - near.low < 0.5 * (apart.high - apart.low)
