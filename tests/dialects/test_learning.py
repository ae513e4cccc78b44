"""How a library learns is carried by a translation, or what it leaves behind is told."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.dialects import explain, names, translate
from nbyt.dialects.dialect import Dialect, every, load
from nbyt.dialects.explaining import explained
from nbyt.dialects.learning import MEANING, OFF, is_same, parts, parts_of
from nbyt.dialects.missing import Given

each = pytest.mark.parametrize("dialect", every(), ids=names())
GIVEN = {
    "clip": st.sampled_from([0.1, 0.25]),
    "entropy_coefficient": st.sampled_from([0.0, 0.02]),
    "max_grad_norm": st.sampled_from([0.5, 2.0]),
    "target_kl": st.sampled_from([0.01, 0.03]),
    "value_coefficient": st.sampled_from([0.5, 1.5]),
}
_ENOUGH = 4


@st.composite
def learners(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    """A library, its sizes, and settings of learning in its own words."""
    name = draw(st.sampled_from(names()))
    dialect = load(name)
    given = dict.fromkeys(Given(dialect, dialect.rules, dialect.defaults).absent(), _ENOUGH)
    wanted = {ours: draw(values) for ours, values in GIVEN.items() if draw(st.booleans())}
    given |= {dialect.learning[one]: v for one, v in wanted.items() if one in dialect.learning}
    for choice in dialect.choices.values():
        if draw(st.booleans()):
            given[choice.key] = draw(st.sampled_from(sorted(choice.values)))
    return name, given


@settings(max_examples=300)
@given(learners(), st.sampled_from(names()))
def test_each_part_of_learning_is_the_same_or_told(learner, target: str) -> None:
    """The target's own settings, read again, learn as the source does, or the rest is told."""
    source = explain(learner[0], **learner[1])
    if source.reading.refusals:
        return
    found = translate(learner[0], target, **learner[1])
    again = explained(load(target), {**found.settings, **found.learning}.items()).reading
    have, got = parts_of(source.reading), parts_of(again)
    told = {one.code for one in found.not_same}
    for name in MEANING:
        if have[name].value is None and got[name].value is None:
            continue
        same = is_same(have[name].value, got[name].value)
        assert same or name in told, (learner, target, name, have[name], got[name])
        assert not (same and name in told), (learner, target, name)


def test_a_translation_that_says_nothing_else_changes_is_a_copy() -> None:
    found = translate("sb3", "sb3", n_envs=8, clip_range=0.1)
    assert found.is_exact and not found.not_same and found.learning == {"clip_range": 0.1}


def test_epochs_that_the_source_stops_early_are_stopped_or_told() -> None:
    """Spinning Up's 80 epochs are stopped at 1.5 x target_kl."""
    carried = translate("spinningup", "sb3")
    assert carried.settings["n_epochs"] == 80 and carried.learning["target_kl"] == 0.01
    cleanrl = translate("spinningup", "cleanrl")  # which stops at 1 x target_kl
    assert cleanrl.learning["target_kl"] == pytest.approx(0.015)
    left = translate("spinningup", "rejax")
    told = next(one.message for one in left.not_same if one.code == "target_kl")
    assert "80 epochs are a limit" in told and "all of them are run" in told


def test_weights_of_the_critic_are_brought_to_one_measure() -> None:
    """Stable-Baselines3 weighs the squared error, CleanRL half of it."""
    assert translate("sb3", "cleanrl", vf_coef=0.25).learning.get("vf_coef") is None
    assert translate("sb3", "cleanrl").learning["vf_coef"] == 1.0
    assert translate("cleanrl", "sb3").learning["vf_coef"] == 0.25


def test_a_linear_schedule_of_rl_zoo_is_carried() -> None:
    found = translate("sb3", "cleanrl", learning_rate="lin_2.5e-4")
    assert found.settings.get("learning_rate") is None or found.settings["learning_rate"] == 2.5e-4
    assert "schedule" not in {one.code for one in found.differences}
    constant = translate("sb3", "cleanrl", learning_rate=2.5e-4)
    assert constant.learning["anneal_lr"] is False and "--no-anneal-lr" in constant.paste


def test_rules_that_a_switch_can_copy_are_switched() -> None:
    found = translate("sb3", "skrl", n_envs=4)
    assert found.settings["time_limit_bootstrap"] is True
    assert "time_limits" not in {one.code for one in found.not_same}
    assert translate("cleanrl", "sb3", norm_adv=False).settings["normalize_advantage"] is False


@each
def test_settings_of_learning_belong_to_the_library(dialect: Dialect) -> None:
    own = {*dialect.keys, *dialect.other}
    keys = [*dialect.learning.values(), *(one.key for one in dialect.choices.values())]
    keys += [dialect.early_stop.key] if dialect.early_stop else []
    assert set(keys) <= own


@each
def test_defaults_of_learning_are_numbers_or_known_words(dialect: Dialect) -> None:
    words = {OFF, "as clip", "linear", "constant", "adaptive", "an optimiser of its own"}
    assert all(
        isinstance(value, float) or value in words for value in dialect.learning_defaults.values()
    )
    known = {*MEANING, "squared_error_coefficient"}
    assert set(dialect.learning_defaults) <= known
    for choice in dialect.choices.values():
        assert set(choice.values.values()) <= words
    assert all(re.match(r"[a-zA-Z]", one) and not one.endswith(".") for one in dialect.apart)


def test_at_least_the_libraries_that_most_people_use_are_known_in_full() -> None:
    for name in ("sb3", "sbx", "cleanrl", "rsl_rl", "skrl", "ppo2", "purejaxrl", "rllib", "nbyt"):
        found = parts(load(name), {})
        assert all(part.value is not None for part in found.values()), (name, found)
