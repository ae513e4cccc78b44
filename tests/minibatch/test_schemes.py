"""Laws of the other schemes: what a mini-batch of each holds, and what an epoch uses."""

import numpy as np
import pytest

from nbyt.errors import LayoutError
from nbyt.layout import Layout
from nbyt.minibatch import schemes
from nbyt.rng import numpy_stream

LAYOUT = Layout(envs=4, steps=8, minibatch=8, epochs=3)
WHOLE = (schemes.consecutive, schemes.time_slabs, schemes.whole_envs)
EVERY = (*WHOLE, schemes.random_fetch, schemes.random_subsets)


def cut(scheme, layout: Layout = LAYOUT, seed: int = 0) -> np.ndarray:
    return scheme(layout, numpy_stream(seed, "scheme"))


def env_and_time(indices: np.ndarray, layout: Layout = LAYOUT) -> tuple[np.ndarray, np.ndarray]:
    """Sample t * N + n is step t of env n."""
    return indices % layout.envs, indices // layout.envs


@pytest.mark.parametrize("scheme", EVERY)
def test_all_give_the_indices_of_every_gradient_step(scheme) -> None:
    indices = cut(scheme)
    assert indices.shape == (LAYOUT.gradient_steps, LAYOUT.minibatch)
    assert indices.dtype == np.int32
    assert indices.min() >= 0 and indices.max() < LAYOUT.batch
    np.testing.assert_array_equal(indices, cut(scheme))
    assert not np.array_equal(indices, cut(scheme, seed=1))


@pytest.mark.parametrize("scheme", WHOLE)
def test_schemes_that_chop_use_every_sample_once_an_epoch(scheme) -> None:
    for epoch in np.split(cut(scheme), LAYOUT.epochs):
        np.testing.assert_array_equal(np.sort(epoch, axis=None), np.arange(LAYOUT.batch))


def test_the_whole_batch_is_one_gradient_step_an_epoch() -> None:
    np.testing.assert_array_equal(cut(schemes.whole_batch), np.tile(np.arange(32), (3, 1)))


@pytest.mark.parametrize("minibatch", [4, 8])
def test_consecutive_steps_are_neighbours_of_one_env(minibatch) -> None:
    layout = Layout(4, 8, minibatch, 2)
    env, time = env_and_time(cut(schemes.consecutive, layout))
    assert (env == env[:, :1]).all()
    assert (np.diff(time, axis=1) == 1).all()


def test_time_slabs_hold_a_few_steps_of_all_envs() -> None:
    env, time = env_and_time(cut(schemes.time_slabs))
    assert all(np.bincount(row).tolist() == [2, 2, 2, 2] for row in env)
    assert (time.max(1) - time.min(1) == 1).all()


def test_whole_envs_hold_all_steps_of_theirs() -> None:
    layout = Layout(4, 8, 16, 2)
    env, _ = env_and_time(cut(schemes.whole_envs, layout), layout)
    assert all(sorted(np.bincount(row, minlength=4)) == [0, 0, 8, 8] for row in env)
    with pytest.raises(LayoutError, match="does not hold whole envs"):
        cut(schemes.whole_envs, Layout(4, 8, 4))


def test_fetching_misses_samples_and_subsets_hold_none_twice() -> None:
    fetched, subsets = cut(schemes.random_fetch), cut(schemes.random_subsets)
    assert all(len(np.unique(row)) == LAYOUT.minibatch for row in subsets)
    assert any(len(np.unique(row)) < LAYOUT.minibatch for row in fetched)
    for epoch in np.split(fetched, LAYOUT.epochs) + np.split(subsets, LAYOUT.epochs):
        assert len(np.unique(epoch)) < LAYOUT.batch
