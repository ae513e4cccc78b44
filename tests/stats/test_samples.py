"""Laws of Samples: weights give what averaging over the very same list of chains gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nbyt.stats.intervals import leave_one_out, redrawn


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
