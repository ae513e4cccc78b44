"""Sums of written-out scores, against loops over chains, fragments and steps."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from nbyt.gradients.slab_sums import LAG_STRIDE, SlabSums
from nbyt.gradients.written import batch_norm_sq, sum_written

CHAINS, TIME, SIZE = 3, 8, 5
LENGTHS, LAMBDAS, LAGS = (1, 4, 16), 2, (1, 3)
PARTS = ("actor", "entropy")


@pytest.fixture(scope="module")
def given() -> tuple[dict[str, Any], ...]:
    """Scores, weights of fragments and weights of whole chains."""
    generator = np.random.default_rng(0)
    shapes = ((CHAINS, TIME, SIZE), (len(LENGTHS), LAMBDAS, CHAINS, TIME), (2, CHAINS, TIME))
    return tuple({part: generator.normal(size=shape) for part in PARTS} for shape in shapes)


@pytest.fixture(scope="module")
def sums(given: tuple[dict[str, Any], ...]) -> SlabSums:
    return sum_written(np, *given, LENGTHS, LAGS)


def contributions(scores: dict[str, Any], weights: dict[str, Any]) -> np.ndarray:
    """Gradients [c, t, P] of one objective."""
    return sum(weights[part][..., None] * scores[part] for part in PARTS)


def test_fragments_are_summed_and_squared_where_they_end(given, sums) -> None:
    scores, fragment, _ = given
    for k, length in enumerate(LENGTHS):
        for m in range(LAMBDAS):
            g = contributions(scores, {part: w[k, m] for part, w in fragment.items()})
            assert_allclose(sums.vectors[k, m], g.sum(axis=1))
            ends = range(0, TIME - length + 1, length)
            squares = sum((g[:, t : t + length].sum(axis=1) ** 2).sum(axis=1) for t in ends)
            assert_allclose(sums.square[k, m], squares)
            assert_allclose(sums.step_square[k, m], (g**2).sum(axis=(1, 2)))
            for chain in range(CHAINS):
                others = np.delete(g, chain, axis=0).sum(axis=0)
                assert_allclose(sums.step_pairs[k, m, chain], (g[chain] * others).sum())


def test_the_endless_chain_has_lags(given, sums) -> None:
    scores, _, whole = given
    g = contributions(scores, {part: w[0] for part, w in whole.items()})
    assert_allclose(sums.whole[0], g.sum(axis=1))
    assert_allclose(sums.endless_square, (g**2).sum(axis=(1, 2)))
    for place, lag in enumerate(LAGS):
        steps = range(0, TIME - lag, LAG_STRIDE)
        assert_allclose(sums.lags[place], sum((g[:, t] * g[:, t + lag]).sum(axis=1) for t in steps))


def test_a_batch_is_the_sum_of_all_chains(given) -> None:
    scores, fragment, _ = given
    found = batch_norm_sq(np, scores, {part: w[:2] for part, w in fragment.items()}, LENGTHS[:2])
    for k, length in enumerate(LENGTHS[:2]):
        for m in range(LAMBDAS):
            g = contributions(scores, {part: w[k, m] for part, w in fragment.items()}).sum(axis=0)
            updates = g.reshape(-1, length, SIZE).sum(axis=1)
            assert found[k, m] == pytest.approx((updates**2).sum())
