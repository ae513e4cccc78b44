"""Laws of the jackknife: the textbook's numbers, the textbook's special cases, and coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nbyt.stats import mean
from nbyt.stats.intervals import (
    bias_corrected,
    correlation,
    deviations,
    leave_one_out,
    positive,
    positive_ratio,
    real,
    skewed,
    spread,
    student,
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
