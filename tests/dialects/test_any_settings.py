"""Whatever is said about settings, a user gets an answer or a refusal in words; never a traceback.

`benchmarks.soak.settings` tries them by the hundred thousand.
"""

import tempfile
from pathlib import Path
from random import Random

import pytest
from benchmarks.soak.settings import command_line, outcome, soak
from benchmarks.soak.settings_values import given as settings_of
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.cli.libraries import pairs
from nbyt.dialects import names
from nbyt.dialects.carrying import carried
from nbyt.dialects.dialect import load
from nbyt.dialects.explaining import explained
from nbyt.errors import UsageError

CHANCE = st.randoms(use_true_random=False)


@settings(max_examples=150)
@given(CHANCE)
def test_a_command_about_settings_answers_or_refuses(random: Random) -> None:
    with tempfile.TemporaryDirectory() as place:
        words = command_line(random, Path(place))
        assert outcome(words) in ("answered", "refused")


@settings(max_examples=200)
@given(CHANCE, st.sampled_from(names()), st.sampled_from([0.0, 0.1, 0.3]))
def test_settings_are_carried_or_refused(random: Random, name: str, wild: float) -> None:
    dialect = load(name)
    words = [f"{key}={value}" for key, value in settings_of(random, dialect, wild)]
    try:
        own = carried(explained(dialect, pairs(words)))
    except UsageError:
        return
    assert own.envs >= 1 and own.steps >= 1
    assert own.envs * own.steps % own.values["minibatch"] == 0


BROKE = {
    "an infinite rate": ["explain", "--json", "acme", "learning_rate=1e400"],
    "a rate that is no number": ["explain", "--json", "sb3", "learning_rate=nan"],
    "rates too far apart": [
        *("compare", "stoix", "total_num_envs=8", "actor_lr=1e300"),
        *("--", "stoix", "total_num_envs=64", "actor_lr=1e-300"),
    ],
    "no mini-batch on one side": [
        *("compare", "acme", "unroll_length=4", "num_minibatches=2048"),
        *("--", "pufferlib", "batch_size=2", "bptt_horizon=64"),
    ],
    "no mini-batch in the changes": [
        *("compare", "stoix", "arch.total_num_envs=128", "actor_lr=3", "--", "cleanrl_continuous"),
        *("num_steps=7", "num_iterations=64", "learning_rate=1e15"),
    ],
    "a rate that vanished": [
        *("compare", "sb3", "batch_size=32", "learning_rate=1e20"),
        *("--", "sb3", "learning_rate=1e-310"),
    ],
}


@pytest.mark.parametrize("words", BROKE.values(), ids=BROKE)
def test_what_once_broke(words: list[str]) -> None:
    assert outcome(words) in ("answered", "refused")


def test_a_batch_too_large_to_factor_is_carried() -> None:
    prime = 999_999_999_999_989
    sizes = {"num_envs": prime, "num_steps": prime, "num_minibatches": 7}
    own = carried(explained(load("cleanrl"), sizes.items()))
    assert (own.envs, own.steps) == (prime, prime) and own.values["minibatch"] == 1


def test_the_soak_counts_every_case_and_finds_both_kinds() -> None:
    found = soak(40, seed=1)
    assert found["cases"] == found["answered"] + found["refused"] + found["broke"] == 40
    assert found["answered"] > 5 and found["refused"] > 5
