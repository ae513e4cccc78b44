"""Laws of the named schemes: shapes, what an epoch uses, and what each does with a rest."""

import numpy as np
import pytest

from nbyt.errors import LayoutError, UsageError
from nbyt.layout import Layout
from nbyt.minibatch import SCHEMES, shuffle_and_chop
from nbyt.minibatch.schemes import SamplerSizes, find
from nbyt.rng import numpy_stream

LAYOUT = Layout(envs=4, steps=8, minibatch=8, epochs=3)
UNLIKE = {"whole_batch"}  # the mistake is its shape
DRAWN = {"whole_batch", "random_fetch", "random_subsets", "pufferlib"}


def sizes_of(name: str, batch: int, minibatch: int, epochs: int = 1) -> list[int]:
    """Mini-batch sizes of one env's batch."""
    found = SCHEMES[name].rule(SamplerSizes(1, batch, minibatch, epochs), numpy_stream(0, "named"))
    return [len(one) for one in found]


@pytest.mark.parametrize("name", sorted(set(SCHEMES) - UNLIKE))
def test_every_scheme_gives_every_gradient_step_where_sizes_divide(name) -> None:
    indices = SCHEMES[name](LAYOUT, numpy_stream(0, "named"))
    assert indices.shape == (LAYOUT.gradient_steps, LAYOUT.minibatch)
    assert indices.dtype == np.int32
    np.testing.assert_array_equal(indices, SCHEMES[name](LAYOUT, numpy_stream(0, "named")))
    assert indices.min() >= 0 and indices.max() < LAYOUT.batch


@pytest.mark.parametrize("name", sorted(set(SCHEMES) - DRAWN))
def test_all_but_those_that_draw_use_every_sample_once_an_epoch(name) -> None:
    for epoch in np.split(SCHEMES[name](LAYOUT, numpy_stream(1, "named")), LAYOUT.epochs):
        np.testing.assert_array_equal(np.sort(epoch, axis=None), np.arange(LAYOUT.batch))


@pytest.mark.parametrize("name", ["rsl_rl", "dopamine", "rl_games", "sample_factory", "skrl_old"])
def test_some_repeat_their_first_epoch(name) -> None:
    epochs = np.split(SCHEMES[name](LAYOUT, numpy_stream(2, "named")), LAYOUT.epochs)
    assert all(np.array_equal(epochs[0], epoch) for epoch in epochs)


def test_the_first_pass_of_rllib_is_unshuffled_and_a_single_one_wraps_to_its_own_start() -> None:
    indices = SCHEMES["rllib"](Layout(1, 32, 8, 3), numpy_stream(0, "named"))
    np.testing.assert_array_equal(indices[:4].ravel(), np.arange(32))
    assert not np.array_equal(indices[4:8].ravel(), np.arange(32))
    alone = SCHEMES["rllib"].rule(SamplerSizes(1, 10, 4, 1), numpy_stream(0, "named"))
    np.testing.assert_array_equal(np.concatenate(alone), [*range(10), 0, 1])


@pytest.mark.parametrize("name", ["brax", "pufferlib"])
def test_unrolls_stay_whole(name) -> None:
    """8 steps an env and mini-batches of 12: pieces of 4 steps."""
    found = SCHEMES[name].rule(SamplerSizes(6, 8, 12, 2), numpy_stream(0, "named"))
    for minibatch in found:
        env, time = minibatch.reshape(-1, 4) % 6, minibatch.reshape(-1, 4) // 6
        assert (
            (env == env[:, :1]).all() and (np.diff(time) == 1).all() and (time[:, 0] % 4 == 0).all()
        )
        assert len(set(minibatch.tolist())) == 12


def test_what_a_rest_becomes() -> None:
    """The worked numbers of the rules, by hand."""
    assert sizes_of("sb3", 1000, 64) == [64] * 15 + [40]
    assert sizes_of("tianshou", 1000, 64) == [64] * 14 + [104]
    assert sizes_of("ppo1", 1000, 64) == [64] * 15
    assert sizes_of("cleanrl", 1000, 333) == [333, 333, 333, 1]
    assert sizes_of("skrl", 1000, 333) == [334, 333, 333]
    assert sizes_of("rsl_rl", 1000, 333) == [333] * 3
    assert sizes_of("rllib", 1000, 64, epochs=10) == [64] * 157
    assert sizes_of("tianshou", 50, 64) == [50]
    for name in ("purejaxrl", "brax", "rl_games", "sample_factory", "dopamine", "shuffle_and_chop"):
        with pytest.raises(LayoutError):
            sizes_of(name, 1000, 64)


def test_a_scheme_is_a_sampler_too() -> None:
    sampler = SCHEMES["shuffle_and_chop"].sampler(envs=4, steps=8)
    expected = shuffle_and_chop(LAYOUT, np.random.default_rng(5))
    np.testing.assert_array_equal(np.stack(sampler(32, 8, 3, 5)), expected)
    with pytest.raises(UsageError, match="32 samples, not 64"):
        sampler(64, 8, 3, 5)


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    assert find("brax") is SCHEMES["brax"]
    with pytest.raises(UsageError, match="did you mean tianshou"):
        find("tianshu")
