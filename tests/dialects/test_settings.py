"""Settings that are wrong are refused in words that help."""

import pytest

from nbyt.dialects import explain
from nbyt.dialects.dialect import load
from nbyt.dialects.settings import settings
from nbyt.errors import DialectError

WRONG = {
    "nearest": ("sb3", {"n_step": 8}, ["n_step"], "n_steps"),
    "word of another": ("sb3", {"num_steps": 8}, ["num_steps", "CleanRL", "n_steps"], "n_steps"),
    "count for a size": ("sb3", {"num_minibatches": 4}, ["CleanRL", "batch_size"], "batch_size"),
    "total for steps": ("sb3", {"frames_per_batch": 4}, ["TorchRL", "n_steps"], "n_steps"),
    "lambda": ("sb3", {"tau": 0.9}, ["rl_games", "gae_lambda"], "gae_lambda"),
    "letters": ("purejaxrl", {"num_envs": 8}, ["NUM_ENVS"], "NUM_ENVS"),
    "gone": ("rllib", {"sgd_minibatch_size": 8}, ["old stack", "minibatch_size"], "minibatch_size"),
    "replay": ("sb3", {"learning_starts": 8}, ["DQN"], "leave it out"),
    "derived": (
        "cleanrl",
        {"num_envs": 4, "num_steps": 128, "batch_size": 99},
        ["batch_size=99", "num_envs=4", "num_steps=128", "512"],
        "leave one",
    ),
    "two names": (
        "rl_games",
        {"preset": "cartpole", "minibatch_size": 64, "minibatch_size_per_env": 8},
        ["minibatch_size=64", "minibatch_size_per_env=8"],
        "leave one",
    ),
    "old name": ("tianshou", {"batch_size": 8, "repeat_per_collect": 2,
                              "update_step_num_repetitions": 3, "num_training_envs": 1},
                 ["repeat_per_collect=2", "update_step_num_repetitions=3"], "leave one"),
    "memory": ("skrl", {"num_envs": 4, "memory_size": 32}, ["memory_size=32", "rollouts=16"], ""),
    "both totals": (
        "rllib",
        {"train_batch_size": 4000, "train_batch_size_per_learner": 2000},
        ["train_batch_size=4000", "train_batch_size_per_learner=2000"],
        "leave one",
    ),
    "zero": ("sb3", {"n_steps": 0}, ["n_steps", "'0'"], "n_steps"),
    "negative": ("sb3", {"n_envs": -3}, ["n_envs", "'-3'"], ""),
    "fraction": ("sb3", {"n_steps": 2.5}, ["n_steps", "'2.5'"], ""),
    "nan": ("sb3", {"n_steps": "nan"}, ["n_steps", "'nan'"], ""),
    "infinite": ("sb3", {"total_timesteps": "inf"}, ["total_timesteps", "'inf'"], ""),
    "astronomic": ("sb3", {"n_steps": "1e400"}, ["n_steps"], ""),
    "thousands of digits": ("sb3", {"n_steps": 1 << 20_000}, ["n_steps", "20,001 bits"], ""),
    "thousands of digits in a rate": ("sb3", {"learning_rate": 1 << 20_000}, ["20,001 bits"], ""),
    "a rate of nan": ("sb3", {"learning_rate": "nan"}, ["learning_rate", "1e-30 to 1e30"], ""),
    "text": ("sb3", {"n_steps": "many"}, ["n_steps", "'many'"], ""),
    "truth for a size": ("sb3", {"n_steps": True}, ["n_steps"], ""),
    "no truth": ("cleanrl", {"norm_adv": "maybe"}, ["norm_adv", "true or false"], ""),
    "gamma": ("sb3", {"gamma": 1.5}, ["gamma", "1.5"], ""),
    "auto where there is none": ("sb3", {"n_steps": "auto"}, ["n_steps"], ""),
    "no default": ("rsl_rl", {}, ["num_envs"], "num_envs="),
    "no preset": ("ppo1", {"preset": "go"}, ["'go'"], "atari"),
    "too few for the envs": ("spinningup", {"processes": 5000}, ["4000", "5000"], "5000"),
}  # fmt: skip


@pytest.mark.parametrize(("library", "given", "said", "fix"), WRONG.values(), ids=WRONG)
def test_wrong_settings_are_refused_in_words(library, given, said, fix) -> None:
    with pytest.raises(DialectError) as caught:
        explain(library, **given)
    assert all(part in caught.value.message for part in said), caught.value.message
    assert fix in caught.value.fix
    assert caught.value.where and caught.value.exit_code == 2


def test_all_strange_names_are_told_at_once() -> None:
    with pytest.raises(DialectError) as caught:
        explain("sb3", num_steps=1, gama=0.9)
    assert "num_steps" in caught.value.message and "gama" in caught.value.message
    assert "gamma" in caught.value.fix


def test_a_name_given_twice_must_agree() -> None:
    sb3 = load("sb3")
    assert settings(sb3, [("n_steps", "8"), ("n-steps", 8.0)]).given == {"n_steps": 8}
    with pytest.raises(DialectError, match="n_steps=8 contradicts n_steps=9"):
        settings(sb3, [("n_steps", "8"), ("n_steps", "9")])


def test_derived_values_that_agree_are_taken() -> None:
    found = explain("cleanrl", num_envs=4, num_steps=128, batch_size=512, minibatch_size=128)
    assert found.layout["batch"] == 512


def test_numbers_are_read_as_people_write_them() -> None:
    for text in ("1e6", "1_000_000", "1000000", 1e6, 1000000):
        assert explain("sb3", total_timesteps=text).reading.total == 1_000_000


def test_old_names_and_zero_runners_are_understood() -> None:
    assert explain("rllib", num_sgd_iter=7).layout["epochs"] == 7
    assert explain("rllib", num_env_runners=0).layout["envs"] == 1
    assert explain("rllib", train_batch_size=1000).layout["batch"] == 1000
    assert explain("tianshou", num_training_envs=1, batch_size="None").layout["minibatches"] == 1


def test_what_was_filled_in_is_told() -> None:
    found = explain("sb3", n_steps=128, clip_range=0.1)
    assert "n_steps" not in found.filled_defaults and found.filled_defaults["batch_size"] == 64
    assert found.as_dict()["ignored"] == ["clip_range"]
    assert explain("ppo1", preset="atari").filled_defaults["timesteps_per_actorbatch"] == 256
