"""Laws of lags: correlations of a process that is known, and a check that rarely cries wolf."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nbyt.stats import LagProducts, PhaseProducts, lag_profile, phase_variance
from nbyt.stats.intervals import student
from nbyt.stats.lags import NO_VARIANCE

LAGS = np.array([1, 3])
PERSISTENCE = 0.6


def process(generator, chains, steps=40, parameters=4, common=0.0) -> np.ndarray:
    """Contributions [t, chain, parameter], autoregressive; `common` noise shared by all chains."""
    noise = generator.normal(size=(steps + 1, chains, parameters))
    noise += common * generator.normal(size=(steps + 1, 1, parameters))
    found = [noise[0]]
    for fresh in noise[1:]:
        found.append(PERSISTENCE * found[-1] + np.sqrt(1 - PERSISTENCE**2) * fresh)
    return np.array(found[1:]) + 0.5


def products_of(g: np.ndarray, block: int) -> LagProducts:
    steps, chains, _ = g.shape
    blocks = np.arange(chains) // block
    pairs = np.zeros(chains)
    for mates in (np.flatnonzero(blocks == b) for b in range(blocks[-1] + 1)):
        total = g[:, mates].sum(1)
        pairs[mates] = [np.sum(g[:, n] * (total - g[:, n])) / steps for n in mates]
    within = [
        [np.sum(g[lag:, n] * g[:-lag, n]) / (steps - lag) for n in range(chains)] for lag in LAGS
    ]
    means = g.mean(0)
    return LagProducts(
        LAGS,
        np.array(within),
        (g**2).sum(-1).mean(0),
        means @ means.T,
        pairs,
        np.bincount(blocks)[blocks] - 1,
    )


def literal(g: np.ndarray, lag: int) -> float:
    """ρ_k by its definition, every product written out."""
    chains = range(g.shape[1])
    means = g.mean(0)
    mean_sq = np.mean([means[a] @ means[b] for a in chains for b in chains if a != b])
    square = (g**2).sum(-1).mean()
    product = (g[lag:] * g[:-lag]).sum(-1).mean()
    return (product - mean_sq) / (square - mean_sq)


@settings(max_examples=15)
@given(st.integers(3, 8), st.integers(0, 10**6))
def test_correlations_and_intervals_are_those_of_the_vectors(chains, seed) -> None:
    g = process(np.random.default_rng(seed), chains)
    found = lag_profile(products_of(g, chains))
    for lag, estimate in zip(LAGS, found.within, strict=True):
        replicates = [literal(g, lag)]
        replicates += [literal(np.delete(g, n, axis=1), lag) for n in range(chains)]
        assert estimate.value == pytest.approx(replicates[0])
        bounds = student(np.array(replicates), chains)
        assert (estimate.low, estimate.high) == pytest.approx(bounds, rel=1e-6)


def test_intervals_cover_and_sound_pools_are_called_independent() -> None:
    generator = np.random.default_rng(1)
    hits, sound = np.zeros(3), 0
    for _ in range(200):
        found = lag_profile(products_of(process(generator, 64, 20), 16))
        truths = (*PERSISTENCE**LAGS, 0.0)
        for place, (part, truth) in enumerate(
            zip((*found.within, found.across), truths, strict=True)
        ):
            hits[place] += part.low <= truth <= part.high
        sound += found.independent
    law = scipy_stats.binom(200, 0.95)
    assert np.all(hits >= law.ppf(0.0005)) and np.all(hits <= law.ppf(0.9995))
    assert sound >= 198


def test_chains_that_share_their_noise_are_found_out() -> None:
    found = lag_profile(products_of(process(np.random.default_rng(2), 64, common=0.3), 16))
    assert not found.independent and found.across.low > 0


def test_no_variance_has_a_reason_instead_of_correlations() -> None:
    found = lag_profile(products_of(np.ones((10, 5, 2)), 5))
    assert found.across.reason == NO_VARIANCE and found.independent
    assert [part.reason for part in found.within] == [NO_VARIANCE] * 2


def products_of_phase(g: np.ndarray) -> PhaseProducts:
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
    found = phase_variance(products_of_phase(g))
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
            found = phase_variance(products_of_phase(g))
            hits += found.low <= size**2 <= found.high
        assert law.ppf(0.0005) <= hits <= law.ppf(0.9995)


def test_one_block_has_a_value_and_a_reason_for_no_interval() -> None:
    found = phase_variance(PhaseProducts(np.ones((1, 3)), np.zeros(1))).as_dict()
    assert found["value"] == 1 and found["low"] is None and "alone" in found["reason"]
