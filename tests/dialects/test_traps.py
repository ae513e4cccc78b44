"""Traps: each is found where it applies, not where it does not, and its remedy removes it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dialects.random_settings import applied, explanations, settings_named

from nbyt.dialects import explain
from nbyt.dialects.explaining import Explanation

TRAPS = [
    ("cleanrl", {"num_envs": 10, "num_steps": 100, "num_minibatches": 3}, "size_one"),
    ("cleanrl", {"num_envs": 8, "num_steps": 128, "num_minibatches": 5}, "tiny_tail"),
    ("sb3", {"n_envs": 8, "n_steps": 125, "batch_size": 64}, "short_tail"),
    ("sb3", {"n_steps": 32, "batch_size": 64}, "minibatch_larger"),
    ("rsl_rl", {"num_envs": 10, "num_steps_per_env": 100, "num_mini_batches": 3}, "tail_dropped"),
    ("ppo1", {"timesteps_per_actorbatch": 1000}, "tail_dropped"),
    ("ppo1", {"timesteps_per_actorbatch": 32}, "nothing_trained"),
    ("tianshou", {"num_training_envs": 8, "collection_step_num_env_steps": 1000}, "tail_merged"),
    ("rllib", {}, "wraps"),
    ("skrl", {"num_envs": 5, "rollouts": 5, "mini_batches": 3}, "uneven_sizes"),
    ("ppo2", {"nenvs": 3, "nsteps": 5}, "refused"),
    ("rl_games", {"preset": "cartpole", "minibatch_size": 100}, "refused"),
    ("sb3", {"batch_size": 1}, "refused"),
    ("rllib", {"minibatch_size": 5000}, "refused"),
    ("purejaxrl", {"NUM_ENVS": 2, "NUM_STEPS": 2, "NUM_MINIBATCHES": 8}, "refused"),
]


def codes(found: Explanation) -> set[str]:
    """The traps that were found."""
    return {trap.code for trap in found.traps}


@pytest.mark.parametrize(("library", "given", "code"), TRAPS)
def test_a_trap_is_found_and_each_nearest_setting_removes_it(library, given, code) -> None:
    found = explain(library, **given)
    trap = next(trap for trap in found.traps if trap.code == code)
    assert trap.message and trap.fix and trap.nearest
    for change in trap.nearest:
        assert all(f"{key}=" in trap.fix for key in change)
        again = explain(library, **{**given, **change})
        assert code not in codes(again)
        assert again.reading.is_even


@settings(max_examples=150)
@given(explanations())
def test_a_fix_that_names_settings_removes_its_trap(found: Explanation) -> None:
    for trap in found.traps:
        named = settings_named(found.dialect, trap.fix)
        changes = trap.nearest or ((named,) if named else ())
        claim = re.match(r"for (\d+) samples in all, ", trap.fix)
        for change in changes:
            again = applied(found, change)
            if claim:  # a share of each process stays one; what it adds up to is the claim
                assert again.reading.sizes.minibatch == int(claim[1]), (found, trap)
            else:
                assert trap.code not in codes(again), (found, trap)


# What the library always does: no setting removes it, and the fix claims none.
ALWAYS = {"first_pass_unshuffled", "blocks"}


@settings(max_examples=150)
@given(explanations())
def test_every_trap_has_a_fix_that_can_be_applied_or_is_of_the_library(found: Explanation) -> None:
    for trap in found.traps:
        named = trap.nearest or settings_named(found.dialect, trap.fix)
        words = ("ask for at least", "choose")
        assert named or trap.code in ALWAYS or trap.fix.startswith(words), (found, trap)


@settings(max_examples=150)
@given(explanations(), st.integers(1, 50))
def test_a_length_or_more_removes_its_trap(found: Explanation, more: int) -> None:
    for trap in found.traps:
        claim = re.match(r"(\w+)=(\d+) or more", trap.fix)
        if claim:
            again = applied(found, {claim[1]: int(claim[2]) * more})
            assert trap.code not in codes(again), (found, trap)


def test_a_fix_of_the_mixing_holds_what_it_claims() -> None:
    sizes = {"num_envs": 8, "num_steps_per_env": 16}
    fix = next(t.fix for t in explain("rsl_rl", **sizes).traps if t.code == "same_permutation")
    assert fix.startswith("num_learning_epochs=1;")
    blocks = next(t.fix for t in explain("dopamine").traps if t.code == "blocks")
    assert blocks.startswith("batch_size=2048 takes the whole batch at once")
    assert "blocks" not in codes(explain("dopamine", batch_size=2048))
    slices = explain("sample_factory", num_workers=4, num_epochs=2, num_batches_per_epoch=4)
    assert next(t.fix for t in slices.traps if t.code == "blocks") == "shuffle_minibatches=true"
    brax = next(t.fix for t in explain("brax").traps if t.code == "blocks")
    assert brax == "Brax cannot shuffle samples; another library can"


def test_a_length_is_offered_in_the_unit_of_the_library() -> None:
    sizes = {"num_envs": 8, "num_steps_per_env": 16}
    short = explain("rsl_rl", **sizes, num_learning_iterations=3)
    fix = next(trap.fix for trap in short.traps if trap.code == "short_run")
    assert fix.startswith("num_learning_iterations=10 or more")


def test_shuffling_is_offered_by_the_settings_that_turned_it_off() -> None:
    off = explain("rllib", num_epochs=1, shuffle_batch_per_epoch=False)
    fix = next(trap.fix for trap in off.traps if trap.code == "unshuffled")
    assert fix == "num_epochs=2 shuffle_batch_per_epoch=true"


def test_the_nearest_mini_batches_are_the_nearest() -> None:
    """Against the plain list of divisors."""
    for steps in (100, 1000, 1023, 2048):
        found = explain("sb3", n_steps=steps, batch_size=60)
        offered = {c["batch_size"] for t in found.traps for c in t.nearest if "batch_size" in c}
        divisors = [d for d in range(2, steps + 1) if steps % d == 0]
        nearest = {max(d for d in divisors if d < 60), min(d for d in divisors if d > 60)}
        assert offered <= nearest and (offered or found.traps == ()), steps


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"total_timesteps": 5000}, "short_run"),
        ({"total_timesteps": 2048 * 9}, "short_run"),
    ],
)
def test_a_run_of_a_few_batches_is_told(given, code) -> None:
    assert code in codes(explain("sb3", **given))


def test_a_run_of_many_batches_is_not() -> None:
    assert "short_run" not in codes(explain("sb3", total_timesteps=2048 * 10))


def test_a_run_shorter_than_a_batch_makes_no_update_where_updates_are_whole() -> None:
    assert "no_update" in codes(explain("cleanrl", total_timesteps=100))
    assert explain("sb3", total_timesteps=100).schedule["updates"] == 1


def test_evaluations_can_make_a_run_longer() -> None:
    found = explain("rejax", num_steps=128)
    trap = next(trap for trap in found.traps if trap.code == "long_run")
    assert str(2 * 131_072) in trap.message and trap.fix == "eval_freq=8192"
    assert "long_run" not in codes(explain("rejax", num_steps=128, eval_freq=8192))


def test_one_sample_is_no_trap_where_nothing_is_normalised() -> None:
    sizes = {"num_envs": 10, "num_steps": 100, "num_minibatches": 3}
    assert "NaN" in next(t.message for t in explain("cleanrl", **sizes).traps)
    assert "size_one" not in codes(explain("cleanrl", **sizes, norm_adv=False))
    assert "refused" not in codes(explain("sb3", batch_size=1, normalize_advantage=False))


def test_shuffling_of_rllib() -> None:
    assert "first_pass_unshuffled" in codes(explain("rllib", num_epochs=2))
    once = codes(explain("rllib", num_epochs=1))
    assert "unshuffled" in once and "first_pass_unshuffled" not in once
    whole = explain("rllib", num_epochs=2, minibatch_size=4000)
    assert not {"unshuffled", "first_pass_unshuffled"} & codes(whole)


def test_the_same_mini_batches_in_every_epoch() -> None:
    assert "same_permutation" in codes(explain("rsl_rl", num_envs=8, num_steps_per_env=16))
    once = explain("rsl_rl", num_envs=8, num_steps_per_env=16, num_learning_epochs=1)
    assert "same_permutation" not in codes(once)


def test_huge_numbers_are_answered_without_listing_them() -> None:
    found = explain("sb3", n_envs=10**6, n_steps=10**6, batch_size=2)
    assert found.schedule["minibatch_sizes"] is None
    assert found.schedule["minibatch_runs"] == [[2, 10**12 // 2]]
