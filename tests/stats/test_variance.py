"""Laws of the decomposition: two parts that add up, and a reason wherever there is no number."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from gradient_vectors import (
    Vectors,
    bias_sq,
    individual,
    jackknife,
    over_pairs,
    random_vectors,
    variance,
    vectors,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nbyt.rng import numpy_stream
from nbyt.stats import bias_parts
from nbyt.stats.intervals import leave_one_out, positive, positive_ratio, real
from nbyt.stats.products import moments_of
from nbyt.stats.variance import (
    NO_SPLIT,
    NO_VARIANCE,
    STILL,
    ZERO,
    Decomposition,
    Drawn,
    _noncentrality,
    _traces,
    decompose,
    dimension,
    penalty,
    squared_length,
)
from nbyt.stats.variance import bias_sq as measured


def decomposed(v: Vectors, envs: int = 1) -> Decomposition:
    products, samples = v.products(), leave_one_out(v.chains)
    return decompose(products, moments_of(products, samples), samples, envs)


def assert_same(found, expected) -> None:
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.low, expected.low, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(found.high, expected.high, rtol=1e-5, atol=1e-8)
    assert found.approximate == expected.approximate


@given(st.integers(0, 10**6), st.integers(1, 50), st.integers(4, 12))
def test_parts_and_intervals_are_those_of_the_vectors(seed, envs, chains) -> None:
    v = random_vectors(chains, 3, 4, 5, seed)
    found = decomposed(v, envs)
    whole, steps = jackknife(v, variance), jackknife(v, individual)
    assert_same(found.variance, positive(whole / envs, chains))
    assert_same(found.individual, positive(steps / envs, chains))
    assert_same(found.covariance, real((whole - steps) / envs, chains))
    assert_same(found.ess_ratio, positive_ratio(steps / whole, chains))
    assert found.covariance_share.value == pytest.approx(1 - found.ess_ratio.value)
    assert found.covariance_share.low == pytest.approx(1 - found.ess_ratio.high)


@given(vectors(least=4))
def test_variance_is_individual_plus_covariance(v: Vectors) -> None:
    found = decomposed(v, 8)
    if found.variance.value is not None and found.individual.value is not None:
        total = found.individual.value + found.covariance.value
        assert found.variance.value == pytest.approx(total)


def test_one_step_has_no_covariance_at_all() -> None:
    found = decomposed(random_vectors(9, 4, 1, 3, seed=2))
    assert found.individual == found.variance
    assert (found.covariance.value, found.covariance.low, found.covariance.high) == (0, 0, 0)
    assert (found.ess_ratio.value, found.ess_ratio.low, found.ess_ratio.high) == (1, 1, 1)


def test_steps_that_repeat_each_other_are_worth_one_and_opposed_steps_more_than_all() -> None:
    generator = np.random.default_rng(0)
    once = generator.normal(size=(100, 3, 1, 4))
    blocks, references = np.arange(100) // 10, np.ones((100, 4))
    same = decomposed(Vectors(np.repeat(once, 5, axis=2), references, blocks))
    assert same.ess_ratio.value == pytest.approx(1 / 5, rel=0.02)
    opposed = np.concatenate([once, -once], axis=2) + 0.1 * generator.normal(size=(100, 3, 2, 4))
    assert decomposed(Vectors(opposed, references, blocks)).ess_ratio.value > 50


def test_a_zero_gradient_has_no_variance_and_no_ratio() -> None:
    found = decomposed(random_vectors(8, 2, 3, 4, seed=0).times(0.0))
    for part in (found.variance, found.individual, found.covariance):
        assert (part.value, part.low, part.high, part.reason) == (0, 0, 0, "")
    assert found.ess_ratio.value is None and found.ess_ratio.reason == ZERO
    assert found.covariance_share.reason == ZERO


def test_a_gradient_that_never_varies_has_no_ratio() -> None:
    still = Vectors(np.ones((8, 2, 3, 4)), np.ones((8, 4)), np.zeros(8))
    assert decomposed(still).variance.value == 0
    assert decomposed(still).ess_ratio.reason == STILL


def test_a_variance_that_comes_out_negative_is_undetermined() -> None:
    # Chains that differ only in sign of a tiny part: their products exceed their squares by luck.
    v = Vectors(np.array([1.0, 1.0, 1.0, -3.0]).reshape(4, 1, 1, 1), np.ones((4, 1)), np.zeros(4))
    products = v.products()
    flipped = type(products)(
        products.steps,
        products.square * 0.01,
        products.step_square,
        products.step_pairs,
        products.partners,
        np.abs(products.means),
        products.cross,
        products.reference,
    )
    samples = leave_one_out(4)
    found = decompose(flipped, moments_of(flipped, samples), samples, 1)
    assert found.variance.value is None and found.variance.reason == NO_VARIANCE
    assert found.ess_ratio.reason == NO_VARIANCE


@given(vectors())
def test_the_squared_bias_is_that_of_the_differences(v: Vectors) -> None:
    assert measured(v.products()).value == pytest.approx(bias_sq(v), abs=1e-10)


def test_what_both_share_drops_out_of_the_interval() -> None:
    v = random_vectors(64, 2, 2, 5, seed=1)
    products = v.products()
    apart = Vectors(v.contributions, v.references[::-1], v.blocks).products()
    paired, unpaired = measured(products), measured(apart)
    assert paired.high - paired.low < 0.7 * (unpaired.high - unpaired.low)


def test_the_parts_are_lengths_of_their_own_vectors() -> None:
    v = random_vectors(20, 2, 2, 5, seed=2)
    long = v.means + np.random.default_rng(0).normal(size=v.means.shape) + 1.0
    first, second = v.means - long, long - v.references
    split = replace(
        v.products(), advantage_part=(first @ first.T)[None], phase_part=(second @ second.T)[None]
    )
    found = bias_parts(split)
    assert found.advantage.value == pytest.approx(over_pairs(first, first))
    assert found.phase == squared_length((second @ second.T)[None])


def test_without_synchronised_starts_the_parts_are_undetermined() -> None:
    found = bias_parts(random_vectors(5, 2, 2, 3, seed=0).products())
    assert found.advantage.reason == found.phase.reason == NO_SPLIT


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


def drawn(gradients: np.ndarray, scale: float, shift: float, draws: int, role: str) -> Drawn:
    """Mini-batches that scatter by `scale` in each of 3 dimensions, around G_B + shift."""
    noise = numpy_stream(4, role).normal(size=(draws, *gradients.shape))
    minibatches = gradients + shift + scale * noise
    mean = minibatches.mean(0)
    return Drawn(mean @ mean.T, (minibatches**2).sum(-1).mean(0))


def test_the_ratio_is_that_of_the_laws_and_a_bias_does_not_count_as_variance() -> None:
    """Var is 3 for the batches; mini-batches add 3 · 2² and 3 · 1²."""
    batches = 5 + numpy_stream(4, "batches").normal(size=(400, 3))
    shuffled = drawn(batches, 1.0, 0.0, 50, "shuffled")
    for shift in (0.0, 7.0):
        found = penalty(drawn(batches, 2.0, shift, 50, "other"), shuffled)
        assert found.value == pytest.approx(15 / 6, rel=0.05)
        assert found.low < 15 / 6 < found.high
    assert penalty(shuffled, shuffled).value == 1


def test_minibatches_that_do_not_vary_have_no_ratio() -> None:
    none = Drawn(np.ones((4, 4)), np.ones(4))
    assert penalty(none, none).value is None
