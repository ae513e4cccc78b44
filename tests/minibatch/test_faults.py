"""Faults: planted ones and those of named schemes are found under their names."""

import pytest
from tests.minibatch import planted

from nbyt.minibatch import SCHEMES, audit
from nbyt.minibatch.faults import CODES

PLANTED = {
    "fetched": {"unused", "repeated"},
    "all_each_time": {"whole_batch"},
    "once_an_epoch_all": {"whole_batch"},
    "last_minibatch_lost": {"unused"},
    "last_sample_lost": {"unused"},
    "single_epoch": {"unused"},
    "same_each_update": {"same_permutation"},
    "one_permutation_for_ever": {"same_permutation"},
    "two_in_turn": {"same_permutation"},
    "fixed_members": {"same_permutation"},
    "in_order": {"unshuffled", "blocks"},
    "backwards": {"unshuffled", "blocks"},
    "every_so_many": {"unshuffled", "blocks"},
    "first_epoch_in_order": {"unshuffled", "blocks"},
    "halves": {"blocks"},
    "small_shuffle_buffer": {"blocks"},
    "careless_swaps": {"unshuffled"},
}


# At 16 envs x 64 steps in mini-batches of 64, 4 epochs.
NAMED = {
    "shuffle_and_chop": set(),
    "sb3": set(),
    "cleanrl": set(),
    "ppo1": set(),
    "purejaxrl": set(),
    "tianshou": set(),
    "skrl": set(),
    "whole_batch": {"whole_batch"},
    "random_fetch": {"unused", "repeated"},
    "random_subsets": {"unused", "repeated"},
    "consecutive": {"blocks"},
    "time_slabs": {"blocks"},
    "whole_envs": {"blocks"},
    "rllib": {"unshuffled", "blocks"},
    "rllib_multi_device": {"blocks"},
    "dopamine": {"same_permutation", "blocks"},
    "rl_games": {"unshuffled", "blocks"},
    "rsl_rl": {"same_permutation"},
    "skrl_old": {"unshuffled", "blocks"},
    "brax": {"blocks"},
    "sample_factory": {"unshuffled", "blocks"},
    "pufferlib": {"unused", "repeated", "blocks"},
}


# At 10 envs x 100 steps in mini-batches of 64, 4 epochs: what a rest of 40 becomes.
RAGGED = {
    "sb3": set(),
    "cleanrl": set(),
    "skrl": set(),
    "ppo1": {"tail_dropped"},
    "tianshou": {"tail_merged"},
    "rsl_rl": {"tail_dropped", "same_permutation"},
    "rllib": {"repeated", "unshuffled", "blocks"},
    "rllib_multi_device": {"tail_dropped", "blocks"},
    "skrl_old": {"tail_dropped", "unshuffled", "blocks"},
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found_under_its_name(name) -> None:
    found = audit(getattr(planted, name), batch=1024, minibatch=32, epochs=4)
    assert found.codes == PLANTED[name] and not found.ok
    assert all(fault.code in CODES and fault.message for fault in found.faults)


@pytest.mark.parametrize("name", SCHEMES)
def test_every_named_scheme_has_the_faults_it_is_known_for(name) -> None:
    sampler = SCHEMES[name].sampler(envs=16, steps=64)
    found = audit(sampler, batch=1024, minibatch=64, epochs=4, envs=16, steps=64)
    assert found.codes == NAMED[name]


@pytest.mark.parametrize("name", RAGGED)
def test_a_rest_is_dropped_merged_kept_or_wrapped(name) -> None:
    sampler = SCHEMES[name].sampler(envs=10, steps=100)
    found = audit(sampler, batch=1000, minibatch=64, epochs=4, envs=10, steps=100)
    assert found.codes == RAGGED[name]


def test_a_tiny_last_minibatch_is_a_fault_and_a_short_one_is_not() -> None:
    """Less than an eighth of the others, or one sample alone, which has no deviation."""
    for batch, minibatch, tiny in [(1024, 204, True), (1000, 333, True), (104, 32, False)]:
        found = audit(planted.right, batch=batch, minibatch=minibatch, epochs=2)
        assert found.codes == ({"tiny_tail"} if tiny else set())
    assert audit(planted.right, batch=9, minibatch=2, epochs=2).codes == {"tiny_tail"}
