"""Libraries are found by the names that people type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbyt.cli.libraries import library
from nbyt.dialects import explain, load, names
from nbyt.dialects.naming import plain
from nbyt.errors import DialectError

NAMES = {
    "SB3": "sb3",
    "stable-baselines3": "sb3",
    "Stable Baselines3": "sb3",
    "StableBaselines3 PPO": "sb3",
    "ray": "rllib",
    "RLlib": "rllib",
    "spinup": "spinningup",
    "Spinning Up": "spinningup",
    "IsaacLab+rsl_rl": "rsl_rl",
    "IsaacLab + skrl": "skrl",
    "isaaclab rl_games": "rl_games",
    "isaac-lab/sb3": "isaaclab_sb3",
    "IsaacGymEnvs": "rl_games",
    "CleanRL": "cleanrl",
    "ppo_atari.py": "cleanrl_atari",
    "ML-Agents": "ml_agents",
    "Baselines PPO2": "ppo2",
    "PureJaxRL": "purejaxrl",
}
# One of its own keys decides which library of a framework is meant.
ISAACLAB = {
    "agent.num_steps_per_env": "rsl_rl",
    "agent.algorithm.num_mini_batches": "rsl_rl",
    "agent.agent.rollouts": "skrl",
    "agent.params.config.horizon_length": "rl_games",
    "n_minibatches": "isaaclab_sb3",
}


@pytest.mark.parametrize(("name", "expected"), NAMES.items())
def test_a_name_that_people_type_is_found(name: str, expected: str) -> None:
    assert load(name).id == expected
    assert load(name.upper()).id == expected


@given(st.sampled_from(names()), st.randoms(use_true_random=False))
def test_case_and_punctuation_never_matter(name: str, random) -> None:
    written = "".join(random.choice([letter.upper(), letter]) for letter in name)
    assert load(written.replace("_", random.choice(["-", " ", "_", ""]))).id == name


def test_no_two_libraries_share_a_name_but_those_of_a_framework() -> None:
    owners: dict[str, set[str]] = {}
    for one in map(load, names()):
        for name in (one.id, *one.called):
            owners.setdefault(plain(name), set()).add(one.id)
    assert {name for name, ids in owners.items() if len(ids) > 1} == {"isaaclab"}


@pytest.mark.parametrize(("key", "expected"), ISAACLAB.items())
def test_the_settings_decide_which_library_of_isaaclab_is_meant(key: str, expected: str) -> None:
    assert load("isaaclab", [key]).id == expected


def test_a_framework_without_settings_of_one_library_names_all() -> None:
    with pytest.raises(DialectError, match="several libraries") as caught:
        load("IsaacLab", ["num_envs"])
    assert "isaaclab+rsl_rl" in caught.value.fix and "isaaclab+sb3" in caught.value.fix


def test_an_unknown_library_lists_the_nearest_three() -> None:
    for name, near in (("rlib", "rllib"), ("tianshu", "tianshou"), ("skril", "skrl")):
        with pytest.raises(DialectError) as caught:
            load(name)
        listed = caught.value.fix.partition("?")[0].removeprefix("did you mean ")
        ids = listed.replace(" or ", ", ").split(", ")
        assert ids[0] == near and len(set(ids)) == 3 and set(ids) <= set(names())


def test_a_name_of_several_words_needs_no_quotes() -> None:
    found, given = library("IsaacLab", ["+", "rsl_rl", "num_envs=64"])
    assert found.id == "rsl_rl" and given == [("num_envs", "64")]


def test_keys_are_read_at_the_place_where_isaaclab_has_them() -> None:
    hydra = {"env.scene.num_envs": 4096, "agent.num_steps_per_env": 24, "+agent.max_iterations": 9}
    found = explain("rsl_rl", **hydra)
    assert found.layout["batch"] == 4096 * 24 and found.schedule["updates"] == 9
    with pytest.raises(DialectError, match="has no setting"):
        explain("rsl_rl", **{"elsewhere.num_envs": 64})


def test_a_command_line_of_cleanrl_is_taken_as_it_is() -> None:
    _, given = library("cleanrl", ["--num-envs", "16", "--no-norm-adv", "--track"])
    assert given == [("num-envs", "16"), ("norm-adv", "false"), ("track", "true")]


def test_a_setting_in_the_place_of_a_library_is_called_one() -> None:
    with pytest.raises(DialectError, match="'num_envs=4096' is a setting, not a library") as caught:
        load("num_envs=4096")
    assert "did you mean" not in caught.value.fix
