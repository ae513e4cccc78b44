"""Laws of the jackknife: the textbook's numbers, the textbook's special cases, and coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nbyt.stats import mean
from nbyt.stats.intervals import (
    EVERYTHING,
    bias_corrected,
    correlation,
    deviations,
    leave_one_out,
    positive,
    positive_ratio,
    ratio_set,
    real,
    redrawn,
    skewed,
    spread,
    student,
    within,
)

numbers = st.lists(st.floats(-100, 100), min_size=4, max_size=30).map(np.array)


def replicates_of(values, groups=1):
    return leave_one_out(values.shape[-1], groups).mean(np.atleast_2d(values))


@given(numbers)
def test_the_jackknife_of_a_mean_is_the_variance_of_a_mean(values) -> None:
    shape = spread(deviations(replicates_of(values), len(values)), len(values))
    assert shape.variance == pytest.approx(values.var(ddof=1) / len(values), abs=1e-9)
    # Values that differ by rounding alone have no shape.
    if values.std() > 1e-6:
        expected = scipy_stats.skew(values) / np.sqrt(len(values))
        assert shape.skewness == pytest.approx(expected, abs=1e-6)


@given(numbers)
def test_degrees_of_freedom_are_those_of_the_variances_own_error(values) -> None:
    n = len(values)
    if values.std() < 1e-6:
        return
    kurtosis = scipy_stats.kurtosis(values, fisher=False) * (n + 1) / (n - 1)
    found = spread(deviations(replicates_of(values), n), n).freedom
    assert found == pytest.approx(min(n - 1, 2 * n / (kurtosis - 1)), rel=1e-6)


def test_normal_scores_give_the_t_interval_of_the_mean() -> None:
    values = scipy_stats.norm.ppf((np.arange(40) + 0.5) / 40)
    found, expected = student(replicates_of(values), 40), mean(values)
    np.testing.assert_allclose(found, (expected.low, expected.high), atol=1e-12)
    np.testing.assert_allclose(skewed(replicates_of(values), 40), found, atol=1e-9)


def test_skewness_shifts_the_interval_towards_the_long_tail() -> None:
    values = scipy_stats.expon.ppf((np.arange(40) + 0.5) / 40)
    plain, shifted = student(replicates_of(values), 40), skewed(replicates_of(values), 40)
    assert shifted[0] > plain[0] and shifted[1] > plain[1]
    mirrored = skewed(replicates_of(-values), 40)
    np.testing.assert_allclose(mirrored, (-shifted[1], -shifted[0]))


def test_halls_transform_of_each_end_is_the_t_quantile() -> None:
    values = scipy_stats.expon.ppf((np.arange(20) + 0.5) / 20)
    shape = spread(deviations(replicates_of(values), 20), 20)
    g = shape.skewness
    for end, sign in zip(skewed(replicates_of(values), 20), (1, -1), strict=True):
        t = (values.mean() - end) / np.sqrt(shape.variance)
        corrected = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
        assert corrected == pytest.approx(sign * shape.quantile())


@given(numbers, st.integers(0, 10**6))
def test_the_correlation_of_two_means_is_that_of_their_values(values, seed) -> None:
    other = values + 50 * np.random.default_rng(seed).normal(size=len(values))
    found = correlation(replicates_of(values), replicates_of(other), len(values))
    if values.std() > 1e-6:
        assert found == pytest.approx(np.corrcoef(values, other)[0, 1], abs=1e-6)


def test_what_does_not_vary_is_correlated_with_nothing() -> None:
    assert correlation(np.ones(11), replicates_of(np.arange(10.0)), 10) == 0


def test_the_bias_of_a_squared_mean_is_removed() -> None:
    values = np.array([1.0, 4.0, -2.0, 7.0, 0.5])
    squared = replicates_of(values) ** 2
    unbiased = values.mean() ** 2 - values.var(ddof=1) / 5
    assert bias_corrected(squared, 5) == pytest.approx(unbiased)


def test_sketch_groups_add_their_own_variance_and_few_degrees_of_freedom() -> None:
    generator = np.random.default_rng(0)
    sketches = generator.normal(size=(8, 1))
    values = np.repeat(sketches, 30, axis=1)
    found = spread(deviations(replicates_of(values, 8), 30), 30)
    assert found.variance == pytest.approx(sketches.var(ddof=1) / 8)
    assert found.freedom == pytest.approx(7)
    mixed = values + 0.01 * generator.normal(size=(1, 30))
    assert spread(deviations(replicates_of(mixed, 8), 30), 30).freedom == pytest.approx(7, rel=0.01)


@given(numbers, st.sampled_from([1e-16, 1e-8, 1e8, 1e16]))
def test_intervals_scale_with_the_numbers(values, factor) -> None:
    values = np.exp(values / 50)
    for interval in (real, positive, positive_ratio):
        one = interval(replicates_of(values), len(values))
        other = interval(replicates_of(values * factor), len(values))
        expected = np.array([one.value, one.low, one.high]) * factor
        found = [other.value, other.low, other.high]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_replicate_that_is_not_positive_leaves_a_finite_approximate_interval() -> None:
    replicates = np.array([1.0, -0.1, *[1.1] * 70])
    found = positive(replicates, 71)
    assert 0 < found.low < 1 < found.high < np.inf
    assert found.approximate


@pytest.mark.parametrize(("draw", "truth"), [("exponential", 1.0), ("chisquare", 1.0)])
def test_variances_of_skewed_data_are_covered(draw, truth) -> None:
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        data = getattr(generator, draw)(1.0, (64, 4)).mean(1)
        found = positive(replicates_of(data), 64)
        hits += found.low <= truth <= found.high
    assert (
        scipy_stats.binom(400, 0.95).ppf(0.0005) <= hits <= scipy_stats.binom(400, 0.95).ppf(0.9995)
    )


@pytest.mark.parametrize(("carriers", "rough"), [(3, True), (60, False)])
def test_what_a_handful_of_chains_decides_is_called_approximate(carriers, rough) -> None:
    """A pool in which few chains have met a reward tells little about its own error."""
    generator = np.random.default_rng(0)
    values = generator.normal(1, 0.01, 128)
    values[:carriers] += generator.normal(20, 5, carriers)
    assert positive(replicates_of(values), 128).approximate == rough
    assert real(replicates_of(values), 128).approximate == rough


def pair_of_means(chains, centres, seed):
    values = np.random.default_rng(seed).normal(size=(2, chains)) + np.array(centres)[:, None]
    samples = leave_one_out(chains)
    return samples.mean(values[:1]), samples.mean(values[1:])


@given(
    st.integers(4, 20),
    st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
    st.integers(0, 10**6),
    st.floats(-10, 10),
)
def test_a_ratio_is_in_the_set_if_the_difference_is_within_its_error(
    chains, centres, seed, h
) -> None:
    top, bottom = pair_of_means(chains, centres, seed)
    a, b = bias_corrected(top, chains), bias_corrected(bottom, chains)
    errors = deviations(top, chains), deviations(bottom, chains)
    quantile = spread(errors[0] - a / b * errors[1], chains).quantile()
    distance = abs(a - h * b) - quantile * math.sqrt(np.sum((errors[0] - h * errors[1]) ** 2))
    if abs(distance) > 1e-9:
        held = any(low <= h <= high for low, high in ratio_set(top, bottom, chains))
        assert held == (distance < 0)


def test_the_three_shapes_of_a_set() -> None:
    assert len(ratio_set(*pair_of_means(20, (3, 3), 0), 20)) == 1
    two = ratio_set(*pair_of_means(20, (3, 0), 0), 20)
    assert [piece[0] == -math.inf for piece in two] == [True, False]
    assert ratio_set(*pair_of_means(20, (0, 0), 3), 20) == EVERYTHING


def test_equal_parts_have_the_ratio_one_and_nothing_else() -> None:
    top, _ = pair_of_means(10, (3, 3), 1)
    [(low, high)] = ratio_set(top, top, 10)
    assert low == pytest.approx(1, abs=1e-7) and high == pytest.approx(1, abs=1e-7)


def test_nothing_over_nothing_is_everything() -> None:
    assert ratio_set(np.zeros(11), np.zeros(11), 10) == EVERYTHING


@pytest.mark.parametrize(
    ("pieces", "cut"),
    [
        ([(0.2, 0.4)], (0.2, 0.4)),
        ([(0.2, 4.0)], (0.2, 1.0)),
        ([(2.0, 4.0)], None),
        ([(-math.inf, -0.5), (0.5, math.inf)], (-1.0, 1.0)),
        ([(-math.inf, -3.0), (0.5, math.inf)], (0.5, 1.0)),
        (EVERYTHING, (-1.0, 1.0)),
    ],
)
def test_the_part_within_bounds(pieces, cut) -> None:
    assert within(pieces, -1.0, 1.0) == cut


def literal_mean(values, chains) -> float:
    """The mean over a list of chains, in which one may stand several times."""
    return float(np.mean([values[:, a].mean() for a in chains]))


def literal_pairs(gram, chains) -> float:
    """The mean over pairs of places in the list whose chains differ."""
    pairs = [gram[:, a, b].mean() for a in chains for b in chains if a != b]
    return float(np.mean(pairs))


sizes = st.tuples(st.integers(3, 9), st.integers(1, 4), st.integers(0, 10**6))


@given(sizes)
def test_leaving_one_out_is_averaging_without_it(size) -> None:
    chains, groups, seed = size
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(groups, chains))
    gram = generator.normal(size=(groups, chains, chains))
    samples = leave_one_out(chains, groups)
    everyone = list(range(chains))
    lists = [everyone] + [[a for a in everyone if a != left] for left in everyone]
    means = [literal_mean(values, kept) for kept in lists]
    pairs = [literal_pairs(gram, kept) for kept in lists]
    for left in range(groups if groups > 1 else 0):
        others = [group for group in range(groups) if group != left]
        means.append(literal_mean(values[others], everyone))
        pairs.append(literal_pairs(gram[others], everyone))
    np.testing.assert_allclose(samples.mean(values), means, atol=1e-12)
    np.testing.assert_allclose(samples.mean_of_pairs(gram), pairs, atol=1e-12)


@given(sizes)
def test_redrawn_samples_pair_no_chain_with_its_own_copy(size) -> None:
    chains, _, seed = size
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(1, chains))
    gram = generator.normal(size=(1, chains, chains))
    samples = redrawn(chains, 5, generator)
    several = np.sum(samples.chains > 0, axis=1) > 1
    for draw in np.flatnonzero(several):
        kept = np.repeat(np.arange(chains), samples.chains[draw].astype(int))
        assert len(kept) == chains
        np.testing.assert_allclose(samples.mean(values)[draw], literal_mean(values, kept))
        found = samples.mean_of_pairs(gram)[draw]
        np.testing.assert_allclose(found, literal_pairs(gram, kept), atol=1e-12)


def test_exact_products_do_not_change_when_a_sketch_group_is_left_out() -> None:
    samples = leave_one_out(5, 3)
    replicates = samples.mean(np.random.default_rng(0).normal(size=(1, 5)))
    assert len(replicates) == 1 + 5 + 3
    assert np.all(replicates[6:] == replicates[0])


def test_redrawing_draws_every_chain_equally_often() -> None:
    samples = redrawn(10, 4000, np.random.default_rng(1), groups=8)
    np.testing.assert_allclose(samples.chains.mean(0), 1, atol=0.08)
    np.testing.assert_allclose(samples.groups.mean(0), 1, atol=0.08)
