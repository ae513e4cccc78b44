"""Laws of the audit: planted faults are found under their names, and right samplers pass."""

import numpy as np
import pytest
from scipy import stats
from tests.minibatch import planted

from nbyt.errors import LayoutError, UsageError
from nbyt.layout import Layout
from nbyt.minibatch import SCHEMES, audit, mixing, shuffle_and_chop
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
RIGHT = ("right", "reshaped", "sorted_inside", "careless_of_seed", "split_evenly")

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


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(("batch", "minibatch"), [(1024, 32), (1024, 1024), (24, 4), (256, 1)])
def test_a_right_sampler_passes(name, batch, minibatch) -> None:
    found = audit(getattr(planted, name), batch=batch, minibatch=minibatch, epochs=3)
    assert found.ok and found.coverage == 1 and found.remarks == ()
    assert found.variance_penalty.value == pytest.approx(1)


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


def test_a_single_epoch_is_judged_by_several_updates() -> None:
    expected = {
        "right": set(),
        "in_order": {"unshuffled", "blocks"},
        "one_permutation_for_ever": {"same_permutation"},
        "fetched": {"unused", "repeated"},
    }
    for name, codes in expected.items():
        assert audit(getattr(planted, name), batch=512, minibatch=64, epochs=1).codes == codes
    rllib = SCHEMES["rllib"].sampler(8, 64)
    assert audit(rllib, batch=512, minibatch=64, epochs=1, envs=8).codes == {"unshuffled", "blocks"}


@pytest.mark.parametrize("name", ["whole_envs", "brax", "rl_games", "dopamine"])
def test_blocks_of_one_env_are_found_without_knowing_the_envs(name) -> None:
    found = audit(SCHEMES[name].sampler(8, 64), batch=512, minibatch=64, epochs=3)
    assert "blocks" in found.codes
    assert any("samples 8 apart" in fault.message for fault in found.faults)


def test_blocks_are_told_apart_by_envs_steps_and_order() -> None:
    def words(name: str, **known) -> str:
        sampler = SCHEMES[name].sampler(8, 64)
        sizes = {"batch": 512, "minibatch": 64 if name != "consecutive" else 32, "epochs": 2}
        return audit(sampler, **sizes, **known).faults[-1].message

    assert "whole envs" in words("whole_envs", envs=8, steps=64)
    assert "steps of one env that follow" in words("consecutive", envs=8)
    assert "neighbouring envs at the same step" in words("time_slabs", steps=64)
    # The same indices, read as n * T + t: time slabs are then steps in a row.
    slabs = words("time_slabs", envs=8, steps=64, order="env-major")
    assert "steps of one env" in slabs


def test_fetching_with_replacement_is_counted_and_costs_what_the_formula_says() -> None:
    found = audit(planted.fetched, batch=2048, minibatch=256, epochs=4)
    assert found.coverage == pytest.approx(1 - np.exp(-1), abs=0.01)
    penalty = found.variance_penalty
    assert penalty.value == pytest.approx(1 + 255 / 2048, rel=5e-3)
    assert penalty.low == 1 and penalty.high == pytest.approx(2047 / (2048 - 256), rel=5e-3)


def test_blocks_have_no_formula_and_say_so() -> None:
    found = audit(planted.in_order, batch=512, minibatch=64, epochs=2).as_dict()
    assert found["variance_penalty"]["value"] is None and found["variance_penalty"]["reason"]


def test_false_alarms_are_rarer_than_stated(monkeypatch) -> None:
    """With one false alarm in five allowed instead of one in 100,000, so that they can be counted.

    Uniform shuffles of every kind, whose counts are not all of one law.
    """
    allowed, alarms, audits = 0.2, 0, 0
    monkeypatch.setattr(mixing, "FALSE_ALARMS", allowed)
    sizes = [(6, 2, 2), (30, 7, 3), (64, 32, 2), (100, 60, 2), (96, 4, 3)]
    for batch, minibatch, epochs in sizes:
        for name in ("sb3", "ppo1", "skrl"):
            sampler = SCHEMES[name].sampler(1, batch)
            for seed in range(2):
                sizes_asked = {"batch": batch, "minibatch": minibatch, "epochs": epochs}
                found = audit(sampler, **sizes_asked, seed=1000 * seed)
                alarms += bool(found.codes & {"blocks", "unshuffled", "same_permutation"})
                audits += 1
    assert alarms <= stats.binom(audits, allowed).ppf(0.999)


def test_the_audit_itself_is_repeatable_and_changes_no_random_state() -> None:
    before = np.random.get_state()[1].copy()
    first, second = (audit(planted.fetched, batch=64, minibatch=8, epochs=2) for _ in range(2))
    assert first.as_dict() == second.as_dict()
    np.testing.assert_array_equal(before, np.random.get_state()[1])


def test_our_own_sampler_passes() -> None:
    def ours(batch: int, minibatch: int, epochs: int, seed: int) -> np.ndarray:
        return shuffle_and_chop(
            Layout(8, batch // 8, minibatch, epochs), np.random.default_rng(seed)
        )

    assert audit(ours, batch=2048, minibatch=64, epochs=10, envs=8, steps=256).ok


def test_questions_that_make_no_sense_are_refused() -> None:
    sizes = {"batch": 64, "minibatch": 8, "epochs": 2}
    for wrong in ({"batch": 0}, {"minibatch": 65}, {"epochs": True}, {"envs": 7}, {"steps": 0}):
        with pytest.raises(LayoutError):
            audit(planted.right, **(sizes | wrong))
    with pytest.raises(LayoutError, match="32 samples"):
        audit(planted.right, **sizes, envs=8, steps=4)
    with pytest.raises(UsageError, match="order"):
        audit(planted.right, **sizes, order="sideways")
    with pytest.raises(UsageError, match="no sampler can be made"):
        audit(7, **sizes)
