"""Laws of shuffle-and-chop: every sample once an epoch, in an order that is uniform."""

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.rng import numpy_stream

ALPHA = 1e-4


@st.composite
def layouts(draw) -> Layout:
    """Layouts of every shape, made from the mini-batch up so that they exist."""
    minibatch, minibatches = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    batch = minibatch * minibatches
    envs = draw(st.sampled_from([d for d in range(1, batch + 1) if batch % d == 0]))
    return Layout(envs, batch // envs, minibatch, draw(st.integers(1, 5)))


@given(layouts(), st.integers(0, 2**31))
def test_every_sample_is_met_exactly_once_an_epoch(layout, seed) -> None:
    indices = shuffle_and_chop(layout, numpy_stream(seed, "shuffle"))
    assert indices.shape == (layout.gradient_steps, layout.minibatch)
    assert indices.dtype == np.int32
    for epoch in np.split(indices, layout.epochs):
        np.testing.assert_array_equal(np.sort(epoch, axis=None), np.arange(layout.batch))


@given(st.integers(0, 2**31))
def test_every_epoch_and_every_update_has_an_order_of_its_own(seed) -> None:
    """Two orders of 64 samples are equal with probability 1 / 64!: never."""
    layout = Layout(8, 8, 16, epochs=4)
    updates = [shuffle_and_chop(layout, numpy_stream(seed, "shuffle", u)) for u in range(3)]
    orders = {tuple(epoch.ravel()) for update in updates for epoch in np.split(update, 4)}
    assert len(orders) == 12


def test_the_same_generator_gives_the_same_minibatches() -> None:
    layout = Layout(8, 8, 16, epochs=4)
    first, second = (shuffle_and_chop(layout, numpy_stream(3, "shuffle", 5)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_every_sample_is_equally_often_in_every_place() -> None:
    """Chi-square over the table [sample, place] of 3,000 epochs of 8 samples.

    Rows and columns have fixed sums, so the statistic has (8 - 1)^2 degrees of freedom once it is
    scaled by (8 - 1) / 8, as for random permutation matrices.
    """
    layout, seeds, counts = Layout(4, 2, 2, epochs=3), 1000, np.zeros((8, 8))
    for seed in range(seeds):
        for epoch in np.split(shuffle_and_chop(layout, numpy_stream(seed, "shuffle")), 3):
            counts[epoch.ravel(), np.arange(8)] += 1
    expected = 3 * seeds / 8
    statistic = ((counts - expected) ** 2 / expected).sum() * 7 / 8
    assert stats.chi2(49).sf(statistic) > ALPHA
    assert stats.chi2(49).cdf(statistic) > ALPHA


def test_all_24_orders_of_4_samples_are_equally_likely() -> None:
    layout, seeds = Layout(2, 2, 2), 4800
    counts = dict.fromkeys(permutations(range(4)), 0)
    for seed in range(seeds):
        order = shuffle_and_chop(layout, numpy_stream(seed, "shuffle"))
        counts[tuple(int(i) for i in order.ravel())] += 1
    assert stats.chisquare(list(counts.values())).pvalue > ALPHA


def test_the_epochs_of_one_update_are_independent() -> None:
    """The first sample of epoch 1 and that of epoch 2, over 4,000 updates of 4 samples."""
    layout, table = Layout(2, 2, 4, epochs=2), np.zeros((4, 4))
    for seed in range(4000):
        first, second = shuffle_and_chop(layout, numpy_stream(seed, "shuffle"))[:, 0]
        table[first, second] += 1
    assert stats.chi2_contingency(table).pvalue > ALPHA
