"""Laws of sampling from a batch, by drawing from a real array many times over."""

import numpy as np
import pytest

from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.minibatch.schemes import random_fetch, random_subsets
from nbyt.rng import numpy_stream
from nbyt_studies import numbers

SAMPLES = 64


def contributions() -> np.ndarray:
    """A batch of correlated and skewed contributions [n, p]: no formula may lean on their law."""
    noise = numpy_stream(3, "contributions").exponential(size=(SAMPLES, 5))
    return np.cumsum(noise - 1, axis=0) + 10 * noise**3


def spread_of(batch: np.ndarray) -> float:
    found = numbers.spread((batch**2).sum(-1).mean(), (batch.mean(0) ** 2).sum(), len(batch))
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
    expected = numbers.without_replacement(spread_of(contributions()), SAMPLES, minibatch)
    assert measured == pytest.approx(expected, rel=0.01)


def test_fetched_minibatches_add_what_the_formula_says_within_a_percent() -> None:
    measured = (drawn(random_fetch, 16) ** 2).sum(-1).mean()
    expected = numbers.with_replacement(spread_of(contributions()), SAMPLES, 16)
    assert measured == pytest.approx(expected, rel=0.01)


def test_subsets_are_single_minibatches_of_a_shuffle() -> None:
    measured = (drawn(random_subsets, 16, epochs=10_000) ** 2).sum(-1).mean()
    expected = numbers.without_replacement(spread_of(contributions()), SAMPLES, 16)
    assert measured == pytest.approx(expected, rel=0.015)


@pytest.mark.parametrize("minibatch", [4, 16])
def test_disjoint_minibatches_covary_as_the_formula_says_within_a_percent(minibatch) -> None:
    """Given the batch Var(G_B) is 0, and what is left is -S²/n at every size."""
    apart = drawn(shuffle_and_chop, minibatch)
    count = apart.shape[1]
    pairs = ((apart.sum(1) ** 2).sum(-1) - (apart**2).sum((1, 2))).mean() / (count * (count - 1))
    expected = numbers.disjoint_covariance(0.0, spread_of(contributions()), SAMPLES)
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
    scatter = numbers.spread(np.trace(covariance) / LENGTH, of_batch, LENGTH)
    expected = of_batch + numbers.without_replacement(scatter, LENGTH, minibatch)
    assert first.var() == pytest.approx(expected, rel=0.01)
    together = numbers.disjoint_covariance(of_batch, scatter, LENGTH)
    assert np.mean(first * second) == pytest.approx(together, rel=0.01)
