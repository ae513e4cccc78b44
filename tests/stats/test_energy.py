"""Energy distance: 0 for equal laws, its known value for normals, and intervals that cover."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from nbyt_studies.comparisons import energy_kernel, energy_of


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
