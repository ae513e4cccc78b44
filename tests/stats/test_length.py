"""Laws of squared lengths: no bias, no clipping, and intervals that cover."""

import math
from itertools import permutations

import numpy as np
import pytest
from gradient_vectors import over_pairs
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nbyt.stats.variance import _noncentrality, _traces, dimension, squared_length

BAND = [scipy_stats.binom(300, 0.95).ppf(tail) for tail in (0.0005, 0.9995)]


def gram_of(data):
    return (data @ data.T)[None]


@given(st.integers(4, 9), st.integers(1, 4), st.integers(0, 10**6))
def test_the_value_is_the_mean_product_of_different_vectors(chains, parameters, seed) -> None:
    data = np.random.default_rng(seed).normal(size=(chains, parameters))
    found = squared_length(gram_of(data))
    assert found.value == pytest.approx(over_pairs(data, data))
    assert found.low <= found.value <= found.high


@given(st.integers(4, 6), st.integers(1, 3), st.integers(0, 10**6))
def test_traces_are_means_over_different_vectors(chains, parameters, seed) -> None:
    """tr(S²) = E <a-b, c-d>² / 4 over four different vectors, for any law."""
    data = np.random.default_rng(seed).exponential(size=(chains, parameters))
    four = [
        float((data[a] - data[b]) @ (data[c] - data[d])) ** 2 / 4
        for a, b, c, d in permutations(range(chains), 4)
    ]
    trace, square = _traces(gram_of(data))
    assert trace == pytest.approx(np.trace(np.atleast_2d(np.cov(data.T))))
    assert square == pytest.approx(max(np.mean(four), (trace / chains) ** 2))


def test_dimension_counts_directions() -> None:
    data = np.random.default_rng(0).normal(size=(400, 6)) * [1, 1, 1, 0, 0, 0]
    assert dimension(gram_of(data)) == pytest.approx(3, rel=0.1)
    assert dimension(np.ones((1, 5, 5))) == math.inf
    assert dimension(np.ones((1, 3, 3))) == 0


@pytest.mark.parametrize(
    ("chains", "parameters", "approximate"),
    [(63, 20, True), (64, 20, False), (127, 2, True), (128, 2, False)],
)
def test_few_chains_or_few_directions_are_called_approximate(
    chains, parameters, approximate
) -> None:
    data = np.random.default_rng(0).normal(1, 1, size=(chains, parameters))
    assert squared_length(gram_of(data)).approximate == approximate


def test_vectors_that_do_not_spread_have_an_exact_length() -> None:
    found = squared_length(np.full((1, 6, 6), 4.0))
    assert (found.value, found.low, found.high) == (4.0, 4.0, 4.0)


def test_three_vectors_have_a_value_and_a_reason_for_no_interval() -> None:
    found = squared_length(gram_of(np.eye(3)))
    assert (found.value, found.low, found.high) == (0.0, -math.inf, math.inf)
    assert found.as_dict()["reason"] == "three chains do not show their own spread"


@pytest.mark.parametrize("freedom", [0.7, 5.0, 80.0])
@pytest.mark.parametrize("truth", [0.0, 3.0, 400.0])
def test_noncentrality_is_where_scipys_law_has_the_probability(freedom, truth) -> None:
    law = scipy_stats.ncx2(freedom, truth) if truth else scipy_stats.chi2(freedom)
    for probability in (0.025, 0.975):
        found = _noncentrality(float(law.ppf(probability)), freedom, probability)
        assert found == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize("excess", [-2000.0, 0.0, 5000.0, 1e6])
@pytest.mark.parametrize("probability", [0.02, 0.98])
def test_large_numbers_take_the_normal_limit_without_a_jump(
    excess, probability, monkeypatch
) -> None:
    limit = _noncentrality(1e6 + excess, 1e6, probability)
    monkeypatch.setattr("nbyt.stats.variance.LARGE", math.inf)
    exact = _noncentrality(1e6 + excess, 1e6, probability)
    assert limit == pytest.approx(exact, abs=10)


@pytest.mark.parametrize(
    ("parameters", "strength", "law"),
    [(2, 0.0, "normal"), (30, 0.0, "laplace"), (2, 1.0, "laplace"), (30, 100.0, "normal")],
)
def test_95_percent_intervals_cover_95_percent(parameters, strength, law) -> None:
    """Also where the truth is 0: an interval that stopped there would cover 97.5 %."""
    generator = np.random.default_rng(3)
    truth = strength / 128
    mean = np.full(parameters, math.sqrt(truth / parameters))
    hits = 0
    for _ in range(300):
        noise = getattr(generator, law)(size=(128, parameters)) / math.sqrt(parameters)
        found = squared_length(gram_of(mean + noise))
        hits += found.low <= truth <= found.high
    assert BAND[0] <= hits <= BAND[1]


def test_a_sketch_widens_the_interval_by_its_own_spread() -> None:
    generator = np.random.default_rng(1)
    data = generator.normal(size=(64, 50)) + 1.0
    sketches = generator.normal(size=(8, 20, 50)) / math.sqrt(20)
    short = np.einsum("grp,np->gnr", sketches, data)
    exact, rough = squared_length(gram_of(data)), squared_length(short @ short.swapaxes(1, 2))
    assert rough.high - rough.low > 1.3 * (exact.high - exact.low)
    assert rough.low <= 50 <= rough.high


@pytest.mark.parametrize(("carriers", "rough"), [(5, True), (64, False)])
def test_few_long_vectors_are_called_approximate(carriers, rough) -> None:
    data = np.random.default_rng(0).normal(1, 1, size=(128, 32))
    data[carriers:] *= 0.01
    assert squared_length(gram_of(data)).approximate == rough


def test_a_length_that_may_be_0_is_called_approximate() -> None:
    data = np.random.default_rng(0).normal(size=(128, 32))
    found = squared_length(gram_of(data))
    assert found.low < 0 and found.approximate
