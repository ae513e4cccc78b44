"""Command lines are read as shells and Hydra write them."""

import pytest

from nbyt.dialects.commands import flags, looks_like_command, read_words
from nbyt.dialects.dialect import load

WORDS = {
    "--num-envs 8": [("num-envs", "8")],
    "--num-envs=8": [("num-envs", "8")],
    "--track --num-envs 8": [("track", "true"), ("num-envs", "8")],
    "--no-norm-adv --cuda": [("norm-adv", "false"), ("cuda", "true")],
    "--headless agent.gamma=0.9": [("headless", "true"), ("agent.gamma", "0.9")],
    "+env.scene.num_envs=64 x": [("+env.scene.num_envs", "64")],
    "train.py task=Ant": [("task", "Ant")],
}


@pytest.mark.parametrize(("text", "pairs"), WORDS.items(), ids=list(WORDS))
def test_words_of_a_command(text: str, pairs: list[tuple[str, str]]) -> None:
    assert list(read_words(text.split())) == pairs


def test_a_comment_is_no_command() -> None:
    assert looks_like_command("python train.py task=Ant")
    assert not looks_like_command("# python train.py --num-envs 8\nn_envs: 8")


def test_two_commands_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="2 command lines"):
        flags(load("sb3"), "python a.py --n-envs 1\npython b.py --n-envs 2", "run.sh")
