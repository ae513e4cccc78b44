"""Laws of the phase term: what it is by definition, no bias, and no interval from one block."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from nbyt.stats import PhaseProducts, phase_variance


def products_of(g: np.ndarray) -> PhaseProducts:
    """Products of G [block, chain, fragment, parameter]."""
    return PhaseProducts(
        np.array([[pairs(block[:, j]) for j in range(g.shape[2])] for block in g]),
        np.array([pairs(block.mean(1)) for block in g]),
    )


def pairs(vectors: np.ndarray) -> float:
    products = [first @ second for first, second in permutations(vectors, 2)]
    return sum(products) / len(products)


def test_without_noise_it_is_the_variance_of_the_mean_over_phases() -> None:
    phases = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 3.0]])
    g = np.broadcast_to(phases, (4, 5, 3, 2))
    found = phase_variance(products_of(g))
    assert found.value == pytest.approx(phases.var(0).sum())
    assert found.high - found.low == pytest.approx(0, abs=1e-12)


def test_intervals_cover_a_phase_that_is_there_and_one_that_is_not() -> None:
    generator = np.random.default_rng(3)
    law = scipy_stats.binom(200, 0.95)
    for size in (0.0, 1.0):
        phases = size * np.array([[1.0, 0.0], [-1.0, 0.0]])
        hits = 0
        for _ in range(200):
            g = phases + generator.normal(size=(12, 4, 2, 2))
            found = phase_variance(products_of(g))
            hits += found.low <= size**2 <= found.high
        assert law.ppf(0.0005) <= hits <= law.ppf(0.9995)


def test_one_block_has_a_value_and_a_reason_for_no_interval() -> None:
    found = phase_variance(PhaseProducts(np.ones((1, 3)), np.zeros(1))).as_dict()
    assert found["value"] == 1 and found["low"] is None and "alone" in found["reason"]
