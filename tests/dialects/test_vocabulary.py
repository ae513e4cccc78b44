"""A name of another library is answered with a setting that stands for the same thing."""

import re

import pytest

from nbyt.dialects import explain
from nbyt.dialects.dialect import Dialect, every, load, names
from nbyt.dialects.vocabulary import unknown_key
from nbyt.errors import DialectError

_SIZES = ("envs", "steps", "fragment", "batch", "minibatch", "minibatches", "epochs")


def answer(library: str, name: str) -> DialectError:
    """What a user hears who gives one library another's name."""
    return unknown_key(load(library), [name])


def size_of(dialect: Dialect, key: str, value: int) -> int:
    """The size that a setting stands for, once it has this value and the rest is as usual."""
    keys = [one for word in _SIZES for one in dialect.words.get(word, ())]
    needed = dict.fromkeys([one for one in keys if one not in dialect.defaults], 64)
    reading = explain(dialect.id, **{**needed, key: value}).reading
    sizes = {**reading.sizes.as_dict(), "minibatches": reading.minibatches}
    return sizes["asked"] if dialect.role(key) == "batch" else sizes[dialect.role(key)]


@pytest.mark.parametrize("target", names())
def test_a_setting_written_for_another_says_the_same_size(target: str) -> None:
    dialect = load(target)
    known = {*dialect.keys, *dialect.aliases, *dialect.other}
    foreign = [(one, key) for one in every() for key in one.keys if key not in known]
    for owner, name in foreign:
        found = re.match(rf"write (\S+)= for {re.escape(name)}=", answer(target, name).fix)
        if found is None or owner.words.get(owner.role(name)) != (name,):
            continue
        if owner.role(name) not in _SIZES or dialect.role(found[1]) != owner.role(name):
            continue
        assert size_of(dialect, found[1], 64) == 64, (owner.id, name, found[1])


def test_a_factor_is_answered_with_the_same_factor() -> None:
    runners = answer("rllib", "num_workers")
    assert "num_env_runners" in runners.message and "num_envs_per" not in runners.message
    assert runners.fix.startswith("write num_env_runners= for num_workers=")
    assert "rllib_old" in runners.fix
    assert answer("sample_factory", "num_rollout_workers").fix.startswith("write num_workers=")
    assert explain("rllib", num_env_runners=4).layout["envs"] == 4


def test_a_factor_without_its_like_is_not_called_the_whole() -> None:
    workers = answer("sb3", "num_workers")
    assert "a factor of the number of envs" in workers.message and "n_envs" in workers.fix
    assert " for num_workers=" not in workers.fix


def test_a_size_made_of_factors_is_answered_with_all_that_matter() -> None:
    envs = answer("rllib", "num_envs")
    assert "num_envs_per_env_runner= and num_env_runners=" in envs.fix
    assert "num_learners" not in answer("rllib", "sgd_minibatch_size").fix  # 0 by default


def test_a_length_in_another_unit_is_told() -> None:
    found = answer("rsl_rl", "total_timesteps")
    assert "in updates" in found.message and " for total_timesteps=" not in found.fix
