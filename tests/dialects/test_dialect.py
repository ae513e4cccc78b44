"""Every dialect file keeps the schema, so that adding a library is adding a file."""

from dataclasses import fields, replace

import pytest

import nbyt
from nbyt.cli.train import LayoutOptions, RunOptions
from nbyt.dialects import vocabulary
from nbyt.dialects.carrying import SETTINGS
from nbyt.dialects.dialect import Dialect, Rules, every, load, names
from nbyt.dialects.sizes import RAGGED
from nbyt.dialects.vocabulary import MEANING
from nbyt.errors import DialectError
from nbyt.training.plan import PPOSettings

KNOWN = {
    "collect": vocabulary.COLLECT,
    "ragged": vocabulary.RAGGED,
    "mixing": vocabulary.MIXING,
    "normalise": vocabulary.NORMALISE,
    "one_sample": vocabulary.ONE_SAMPLE,
    "time_limits": vocabulary.TIME_LIMITS,
    "updates": vocabulary.UPDATES,
    "total": vocabulary.TOTAL,
}
# What a user must be able to name on the command line.
IDS = [
    "acme",
    "agilerl",
    "brax",
    "cleanrl",
    "cleanrl_atari",
    "cleanrl_continuous",
    "dopamine",
    "ml_agents",
    "ppo1",
    "ppo2",
    "pufferlib",
    "purejaxrl",
    "rejax",
    "rl_games",
    "rllib",
    "rllib_old",
    "rsl_rl",
    "sample_factory",
    "sb3",
    "sbx",
    "skrl",
    "spinningup",
    "stoix",
    "tianshou",
    "torchrl",
]

each = pytest.mark.parametrize("dialect", every(), ids=names())


def test_the_promised_libraries_are_there() -> None:
    assert set(IDS) <= set(names())


@each
def test_a_file_says_what_was_read_and_where(dialect: Dialect) -> None:
    assert dialect.library and dialect.algorithm and dialect.version and dialect.source
    assert all(note.endswith(".") for note in dialect.notes)


@each
def test_rules_are_named_ones(dialect: Dialect) -> None:
    variants = [dialect.rules, *(replace(dialect.rules, **s.rules) for s in dialect.switches)]
    for rules in variants:
        for name, meanings in KNOWN.items():
            assert getattr(rules, name) in meanings, (dialect.id, name)
    assert {field.name for field in fields(Rules)} >= set(KNOWN)


def test_every_named_rule_is_explained_and_coded() -> None:
    assert set(RAGGED) == set(vocabulary.RAGGED)


@each
def test_words_are_ours_and_name_each_setting_in_one_role(dialect: Dialect) -> None:
    assert {word.removesuffix("_or") for word in dialect.words} <= set(MEANING)
    assert {"epochs", "total", "gamma", "lam"} <= set(dialect.words)
    assert "envs" in dialect.words or dialect.rules.fixed_envs
    assert dialect.words.keys() & {"steps", "fragment", "batch"}
    carriers = [keys[0] for word, keys in dialect.words.items() if word in ("envs", "epochs")]
    assert len(set(carriers)) == len(carriers)


@each
def test_defaults_aliases_and_checks_name_settings_that_exist(dialect: Dialect) -> None:
    known = set(dialect.keys)
    assert set(dialect.aliases.values()) <= known
    assert not set(dialect.aliases) & known
    assert not set(dialect.other) & known
    for preset in dialect.presets.values():
        assert set(preset) <= known
    sizes = {"batch", "minibatch", "envs", "steps", "fragment"}
    for check in dialect.checks:
        assert {*check.of, *check.by} <= known | sizes
    roles = {*MEANING, "steps"}
    assert set(dialect.derived.values()) <= roles


@each
def test_a_switch_has_a_default_of_its_kind(dialect: Dialect) -> None:
    for switch in dialect.switches:
        assert type(dialect.defaults[switch.key]) is type(switch.value)
        assert dialect.defaults[switch.key] != switch.value


@each
def test_settings_of_learning_are_ours_and_set_aside_as_no_part_of_the_layout(
    dialect: Dialect,
) -> None:
    assert set(dialect.learning) <= set(SETTINGS)
    assert set(dialect.learning.values()) <= set(dialect.other)
    ours = {name for name in SETTINGS if name != "squared_error_coefficient"}
    assert ours <= set(PPOSettings().as_dict())


@each
def test_replay_words_come_with_their_defaults(dialect: Dialect) -> None:
    if dialect.replay:
        assert set(dialect.replay.defaults) <= set(dialect.replay.keys)
        assert dialect.replay.replacement in ("with", "without", "unread")


def test_our_own_words_are_those_of_our_own_command() -> None:
    own, layout, settings = load("nbyt"), LayoutOptions(), PPOSettings()
    assert own.version == nbyt.__version__
    for word in ("envs", "steps", "minibatch", "epochs"):
        assert own.defaults[own.key(word)] == getattr(layout, word)
    assert own.defaults["total"] == RunOptions().total
    for word in ("gamma", "lam", "learning_rate"):
        assert own.defaults[own.key(word)] == getattr(settings, word)


def test_an_unknown_library_is_refused_with_the_nearest() -> None:
    with pytest.raises(DialectError, match="unknown library 'rlib'") as caught:
        load("rlib")
    assert "rllib" in caught.value.fix
