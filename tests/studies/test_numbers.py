"""Numbers of a study: shares, ratios, sampling formulas and rows in order."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.minibatch.replay import SAMPLINGS
from nbyt.minibatch.schemes import random_fetch, random_subsets
from nbyt.rng import numpy_stream
from nbyt.stats.variance import sample_variance
from nbyt_studies import numbers
from nbyt_studies.numbers import (
    deviations,
    distance,
    distinct_in_windows,
    exact_number,
    expected_distinct,
    lag_correlations,
    mean_cosine,
    mean_distinct,
    mean_of,
    of_strata,
    of_windows,
    ratio_of_means,
    share,
    share_difference,
    shortened,
    spread_of,
    spread_ratio,
    typical_ratio,
)


def test_exact_and_short_ones() -> None:
    assert exact_number(2) == {"value": 2.0, "low": 2.0, "high": 2.0}
    assert shortened([1.23456, float("nan"), None, 0.0]) == [1.235, None, None, 0.0]
    assert mean_of([1.0, 3.0]).value == 2.0


def test_a_distance_has_two_sides() -> None:
    def ends(low: float, high: float) -> list[float]:
        found = distance({"value": (low + high) / 2, "low": low, "high": high}, 1.0)
        return [found["low"], found["value"], found["high"]]

    assert ends(2, 4) == [1, 2, 3] and ends(-2, 0) == [1, 2, 3]
    assert ends(0.5, 2.5) == [0, 0.5, 1.5]
    unknown = {"value": 1.0, "low": None, "high": 2.0}
    assert distance(unknown, 1.0) == unknown


def test_ratios_cover_the_truth() -> None:
    generator = np.random.default_rng(0)
    inside = np.zeros(4)
    for _ in range(400):
        over, under = 2 * np.exp(0.3 * generator.normal(size=(2, 6))) * [[1], [0.5]]
        found = typical_ratio(over, under)
        inside[0] += found.low <= 2 <= found.high
        pairs = generator.normal([[1.0], [4.0]], 0.5, size=(2, 6))
        found = ratio_of_means(*pairs)
        inside[1] += found.low <= 0.25 <= found.high
        wide, narrow = generator.normal(size=(2, 6)) * [[3], [1]]
        found = spread_ratio(wide, narrow)
        inside[2] += found.low <= 3 <= found.high
        found = spread_of(wide)
        inside[3] += found.low <= 3 <= found.high
    assert (inside >= 0.91 * 400).all(), inside


def test_what_has_no_ratio_says_why() -> None:
    assert typical_ratio([1.0, 0.0], [1.0, 1.0]).value is None
    assert ratio_of_means([1.0, 2.0], [1.0, 1.0]).value is None
    assert spread_ratio([1.0, 2.0], [1.0, 1.0]).value is None
    assert spread_of([1.0]).value is None
    assert ratio_of_means([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).value == pytest.approx(0.5)


COUNT = 8
SHARES = [share(hits, COUNT) for hits in range(COUNT + 1)]


def test_differences_cover_the_truth() -> None:
    found = [share_difference(first, second) for first, second in product(SHARES, SHARES)]
    low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
    for first, second in product(np.linspace(0, 1, 6), repeat=2):
        laws = [stats.binom.pmf(range(COUNT + 1), COUNT, p) for p in (first, second)]
        inside = (low <= first - second + 1e-12) & (high >= first - second - 1e-12)
        assert np.outer(*laws).ravel() @ inside >= 0.95


def test_equal_shares_tell_nothing() -> None:
    found = share_difference(SHARES[0], SHARES[0])
    assert found.value == 0 and found.low < -0.2 and found.high > 0.2


def test_all_against_none_is_a_difference() -> None:
    assert share_difference(SHARES[-1], SHARES[0]).low > 0.4


SAMPLES = 64


def contributions() -> np.ndarray:
    """A batch of correlated and skewed contributions [n, p]: no formula may lean on their law."""
    noise = numpy_stream(3, "contributions").exponential(size=(SAMPLES, 5))
    return np.cumsum(noise - 1, axis=0) + 10 * noise**3


def batch_spread(batch: np.ndarray) -> float:
    found = sample_variance((batch**2).sum(-1).mean(), (batch.mean(0) ** 2).sum(), len(batch))
    assert found == pytest.approx(batch.var(0, ddof=1).sum())
    return found


def drawn(scheme, minibatch: int, epochs: int = 20_000) -> np.ndarray:
    """G_mb - G_B of many epochs, [epochs, mini-batches, p]."""
    batch = contributions()
    layout = Layout(8, SAMPLES // 8, minibatch, epochs)
    indices = scheme(layout, numpy_stream(0, "drawn"))
    return (batch[indices].mean(1) - batch.mean(0)).reshape(epochs, -1, batch.shape[1])


@pytest.mark.parametrize("minibatch", [4, 16, 32])
def test_shuffled_minibatches_add_what_the_formula_says_within_a_percent(minibatch) -> None:
    measured = (drawn(shuffle_and_chop, minibatch) ** 2).sum(-1).mean()
    expected = numbers.without_replacement(batch_spread(contributions()), SAMPLES, minibatch)
    assert measured == pytest.approx(expected, rel=0.01)


def test_fetched_minibatches_add_what_the_formula_says_within_a_percent() -> None:
    measured = (drawn(random_fetch, 16) ** 2).sum(-1).mean()
    expected = numbers.with_replacement(batch_spread(contributions()), SAMPLES, 16)
    assert measured == pytest.approx(expected, rel=0.01)


def test_subsets_are_single_minibatches_of_a_shuffle() -> None:
    measured = (drawn(random_subsets, 16, epochs=10_000) ** 2).sum(-1).mean()
    expected = numbers.without_replacement(batch_spread(contributions()), SAMPLES, 16)
    assert measured == pytest.approx(expected, rel=0.015)


@pytest.mark.parametrize("minibatch", [4, 16])
def test_disjoint_minibatches_covary_as_the_formula_says_within_a_percent(minibatch) -> None:
    """Given the batch Var(G_B) is 0, and what is left is -S²/n at every size."""
    apart = drawn(shuffle_and_chop, minibatch)
    count = apart.shape[1]
    pairs = ((apart.sum(1) ** 2).sum(-1) - (apart**2).sum((1, 2))).mean() / (count * (count - 1))
    expected = numbers.disjoint_covariance(0.0, batch_spread(contributions()), SAMPLES)
    assert pairs == pytest.approx(expected, rel=0.01)


def test_the_whole_batch_adds_nothing_and_covers_all() -> None:
    assert numbers.without_replacement(3.0, SAMPLES, SAMPLES) == 0
    assert numbers.never_fetched(SAMPLES, SAMPLES, 1, replace=False) == 0


@pytest.mark.parametrize(("scheme", "replace"), [(random_fetch, True), (random_subsets, False)])
def test_the_share_never_fetched_is_the_expected_one(scheme, replace) -> None:
    layout = Layout(8, 32, 32, epochs=1)
    shares = [
        1 - len(np.unique(scheme(layout, numpy_stream(seed, "fetch")))) / layout.batch
        for seed in range(2000)
    ]
    expected = numbers.never_fetched(256, 32, 8, replace=replace)
    assert np.mean(shares) == pytest.approx(expected, abs=5 * np.std(shares) / 2000**0.5)
    assert numbers.never_fetched(10**6, 100, 10**4) == pytest.approx(np.exp(-1), rel=1e-4)


def test_the_variance_ratio_is_that_of_the_law_that_batches_come_from() -> None:
    """Batches of variance 2 in 3 dimensions around a mean, cut in ways that add 4 and 1."""
    generator = numpy_stream(1, "batches")
    gradients = 1 + generator.normal(size=(400, 3)) * np.sqrt(2 / 3)
    extra, other = generator.gamma(8, 0.5, size=400), generator.gamma(8, 0.125, size=400)
    found = numbers.variance_ratio(gradients @ gradients.T, extra, other)
    assert found.value == pytest.approx(6 / 3, rel=0.05)
    assert found.low < 2 < found.high
    same = numbers.variance_ratio(gradients @ gradients.T, extra, extra)
    assert same.value == 1 and same.low == same.high == 1


def test_batches_that_do_not_vary_have_no_ratio() -> None:
    none = np.zeros(5)
    assert numbers.variance_ratio(np.zeros((5, 5)), none, none).value is None


BATCHES, LENGTH, CORRELATION = 300_000, 16, 0.8


def correlated_minibatches(minibatch: int) -> tuple[np.ndarray, np.ndarray]:
    """Two disjoint mini-batches' means in each of many batches of correlated samples."""
    generator = numpy_stream(5, "correlated")
    samples = generator.normal(size=(BATCHES, LENGTH)) @ np.linalg.cholesky(autocovariance()).T
    shuffled = generator.permuted(samples, axis=1)
    return shuffled[:, :minibatch].mean(1), shuffled[:, minibatch : 2 * minibatch].mean(1)


def autocovariance() -> np.ndarray:
    step = np.arange(LENGTH)
    return CORRELATION ** np.abs(step[:, None] - step)


@pytest.mark.parametrize("minibatch", [2, 8])
def test_both_formulas_hold_over_batches_that_vary_within_a_percent(minibatch) -> None:
    """Var(G_mb) = Var(G_B) + (1 - m/n) E S²/m and Cov = Var(G_B) - E S²/n, from the law itself."""
    first, second = correlated_minibatches(minibatch)
    covariance = autocovariance()
    of_batch = covariance.mean()
    scatter = sample_variance(np.trace(covariance) / LENGTH, of_batch, LENGTH)
    expected = of_batch + numbers.without_replacement(scatter, LENGTH, minibatch)
    assert first.var() == pytest.approx(expected, rel=0.01)
    together = numbers.disjoint_covariance(of_batch, scatter, LENGTH)
    assert np.mean(first * second) == pytest.approx(together, rel=0.01)


@pytest.fixture
def apart() -> np.ndarray:
    """Deviations of 64 vectors that remember their neighbours."""
    noise = np.random.default_rng(0).normal(size=(64, 3))
    rows = np.stack([noise[max(0, k - 4) : k + 1].mean(0) for k in range(64)])
    return deviations(rows + 5)


def test_correlations_are_means_of_products(apart) -> None:
    square = np.mean(np.sum(apart**2, axis=1))
    pairs = [apart[k] @ apart[k + 3] for k in range(61)]
    one, three = lag_correlations(apart, (1, 3))
    assert three == pytest.approx(np.mean(pairs) / square)
    assert one > three > 0
    others = [apart[a] @ apart[b] for a in range(64) for b in range(64) if a != b]
    assert np.mean(others) / square == pytest.approx(-1 / 63)


def test_windows_are_all_that_sequential_sampling_can_draw(apart) -> None:
    every = [np.sum(apart[k : k + 8].mean(0) ** 2) for k in range(57)]
    assert of_windows(apart, (1, 8))[1] == pytest.approx(np.mean(every))
    assert of_windows(apart, [64])[0] == pytest.approx(0, abs=1e-12)
    for sizes in ([3], [4, 2]):
        with pytest.raises(ValueError, match="power of 2"):
            of_windows(apart, sizes)


def test_strata_are_what_stratified_sampling_draws(apart) -> None:
    draws = SAMPLINGS["stratified"](64, (20_000, 4), np.random.default_rng(1))
    squares = np.sum(apart[draws].mean(1) ** 2, axis=1)
    assert of_strata(apart, [4])[0] == pytest.approx(squares.mean(), rel=0.03)
    assert of_strata(apart, [1])[0] == pytest.approx(of_windows(apart, [1])[0])
    assert of_strata(apart, [64])[0] == pytest.approx(0, abs=1e-12)


def test_cosines_leave_rows_of_zero_out() -> None:
    first = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    second = np.array([[3.0, 0.0], [1.0, 0.0], [-2.0, -2.0]])
    assert mean_cosine(first, second) == pytest.approx(0)
    assert np.isnan(mean_cosine(first[1:2], second[1:2]))


LABELS = np.array([0, 0, 1, 2, 2, 2, 0, 3, 3, 1])


def test_without_replacement_is_the_mean_over_all_subsets() -> None:
    for size in (1, 4, 8, 10):
        every = [len(set(LABELS[list(some)])) for some in combinations(range(10), size)]
        found = expected_distinct(LABELS, size, replace=False)
        assert found == pytest.approx(np.mean(every))


def test_with_replacement_is_what_draws_show() -> None:
    places = np.random.default_rng(0).integers(10, size=(20_000, 4))
    expected = expected_distinct(LABELS, 4, replace=True)
    assert mean_distinct(LABELS, places) == pytest.approx(expected, rel=0.01)


def test_windows_are_counted_one_by_one() -> None:
    for size in (1, 3, 7, 10):
        every = [len(set(LABELS[k : k + size])) for k in range(11 - size)]
        assert distinct_in_windows(LABELS, size) == pytest.approx(np.mean(every))
