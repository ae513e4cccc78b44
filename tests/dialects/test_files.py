"""Real configuration is read as it is found; hostile files are refused and never executed."""

import json
import time
from pathlib import Path

import pytest

from nbyt.dialects.dialect import load
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.files import parsed, read_file
from nbyt.errors import DialectError

ZOO = """
atari: &atari-defaults
  env_wrapper:
    - stable_baselines3.common.atari_wrappers.AtariWrapper
  policy: 'CnnPolicy'
  n_envs: 8
  n_steps: 128
  n_epochs: 4
  batch_size: 256
  n_timesteps: !!float 1e7
  learning_rate: lin_2.5e-4
BeamRider:
  <<: *atari-defaults
  n_envs: 16
  policy_kwargs: "dict(net_arch=[64, 64])"
"""
RL_GAMES = """
params:
  algo:
    name: a2c_continuous
  config:
    name: Ant
    num_actors: 64
    horizon_length: 16
    minibatch_size: 512
    mini_epochs: 4
    gamma: 0.99
    tau: 0.95
    max_epochs: 500
    central_value_config:
      minibatch_size: 8
"""
RSL_RL = """
runner:
  num_steps_per_env: 24
  max_iterations: 1500
algorithm:
  num_learning_epochs: 5
  num_mini_batches: 4
  learning_rate: 1e-3
env:
  num_envs: 4096
"""
CLEANRL = """# what I ran last week
python cleanrl/ppo_atari.py --env-id Pong-v4 --num-envs 16 \\
    --num-steps=64 --no-norm-adv --track --total-timesteps 1e6
"""


def written(folder: Path, name: str, text: str | bytes) -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def explain_file(library: str, path: Path, entry: str | None = None) -> Explanation:
    """What a library does with the settings of a file."""
    dialect = load(library)
    return explained(dialect, read_file(dialect, path, entry), lenient=True)


def test_an_entry_of_rl_zoo(tmp_path: Path) -> None:
    path = written(tmp_path, "ppo.yml", ZOO)
    found = explain_file("sb3", path, "BeamRider")
    assert (found.layout["envs"], found.layout["steps"]) == (16, 128)
    assert found.schedule["updates"] == -(-10_000_000 // 2048)
    assert found.reading.settings.given["learning_rate"] == "lin_2.5e-4"
    assert explain_file("sb3", path, "atari").layout["envs"] == 8
    with pytest.raises(DialectError, match="several entries") as caught:
        explain_file("sb3", path)
    assert "atari" in caught.value.fix and "BeamRider" in caught.value.fix
    with pytest.raises(DialectError, match="no entry 'Pong'"):
        explain_file("sb3", path, "Pong")


def test_a_single_entry_needs_no_name(tmp_path: Path) -> None:
    path = written(tmp_path, "ppo.yml", "CartPole-v1:\n  n_envs: 8\n  n_steps: 32\n")
    assert explain_file("sb3", path).layout["batch"] == 256


def test_a_command_line_of_cleanrl(tmp_path: Path) -> None:
    path = written(tmp_path, "run.sh", CLEANRL)
    found = explain_file("cleanrl_atari", path)
    assert (found.layout["envs"], found.layout["steps"]) == (16, 64)
    assert found.reading.rules.normalise == "none"
    assert found.schedule["updates"] == 976
    assert set(found.reading.settings.ignored) == {"env_id", "track"}
    with pytest.raises(DialectError, match=r"ppo_atari\.py, which is cleanrl_atari") as caught:
        explain_file("cleanrl", path)
    assert "cleanrl_atari" in caught.value.fix


def test_a_config_of_rllib(tmp_path: Path) -> None:
    config = {"num_env_runners": 4, "train_batch_size_per_learner": 2000, "lambda": 0.9}
    config |= {"rollout_fragment_length": "auto", "model": {"fcnet_hiddens": [64]}}
    found = explain_file("rllib", written(tmp_path, "config.json", json.dumps(config)))
    assert (found.layout["envs"], found.layout["steps"]) == (4, 500)
    assert found.reading.settings.given["lambda_"] == 0.9


def test_yaml_of_rl_games_is_read_at_its_place(tmp_path: Path) -> None:
    found = explain_file("rl_games", written(tmp_path, "ant.yaml", RL_GAMES))
    assert found.layout["batch"] == 1024 and found.layout["minibatch"] == 512
    assert found.schedule["updates"] == 500


def test_yaml_of_rsl_rl(tmp_path: Path) -> None:
    found = explain_file("rsl_rl", written(tmp_path, "rsl.yaml", RSL_RL))
    assert found.layout["batch"] == 4096 * 24 and found.layout["minibatches"] == 4


def test_a_value_that_only_its_own_library_can_fill_in_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "ant.yaml", RL_GAMES.replace(" 64", " ${task.env.numEnvs}"))
    with pytest.raises(DialectError, match="num_actors") as caught:
        explain_file("rl_games", path)
    assert "num_actors=" in caught.value.fix


def levels(first: str, line: str) -> str:
    """YAML in which each of 40 lines holds the one before it twice."""
    return first + "".join(line.format(here=n, last=n - 1) for n in range(1, 41))


HOSTILE = {
    "python object": "n_steps: !!python/object/apply:os.system ['touch owned']",
    "python name": "n_steps: !!python/name:os.system ''",
    "own tag": "n_steps: !evil 3",
    "doubling lists": levels("a0: &a0 [1]\n", "a{here}: &a{here} [*a{last}, *a{last}]\n"),
    "doubling merges": levels(
        "a0: &a0 {x: 1, y: 2}\n", "a{here}: &a{here} {{<<: [*a{last}, *a{last}]}}\n"
    ),
    "many aliases": "a: &a {x: 1}\nb: [" + "*a, " * 5000 + "1]",
    "itself": "a: &a {b: *a}",
    "deep lists": "[" * 20_000,
    "deep mappings": "{a: " * 5000,
    "twice": "n_steps: 8\nn_steps: 16\n",
    "huge integer": "n_steps: " + "9" * 20_000,
    "bad date": "n_steps: 2026-99-99",
    "control characters": "n_steps: \x00\x01",
    "unclosed": "n_steps: [1, 2",
    "text": "hello",
    "nothing": "",
    "list": "- n_steps: 4",
    "other words": "learning: 3",
    "infinite": "n_steps: .inf",
    "not a number": "n_steps: .nan",
}  # fmt: skip


# Strange, and yet they say something: what they say is read, and no more.
HARMLESS = {
    "mapping for a number": ("n_steps: {a: 1}", 2048),
    "doubling mappings": (
        levels("a0: &a0 {n_steps: 9}\n", "a{here}: &a{here} {{p: *a{last}, q: *a{last}}}\n"),
        9,
    ),
    "quoted number": ("n_steps: '1e2'", 100),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_yaml_is_refused_quickly(text, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, "hostile.yml", text)
    began = time.process_time()
    with pytest.raises(DialectError) as caught:
        explain_file("sb3", path)
    assert len(str(caught.value)) < 1000
    assert time.process_time() - began < 5  # unrefused, it takes for ever
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("text", "steps"), HARMLESS.values(), ids=HARMLESS)
def test_a_strange_yaml_is_read_for_what_it_says(text, steps, tmp_path: Path) -> None:
    assert explain_file("sb3", written(tmp_path, "strange.yml", text)).layout["steps"] == steps


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, '{"n_steps": 1, "n_steps": 2}', "{", '{"n_steps": NaN}'],
    ids=["deep lists", "deep mappings", "twice", "unclosed", "not a number"],
)
def test_a_hostile_json_is_refused(text, tmp_path: Path) -> None:
    with pytest.raises(DialectError):
        explain_file("sb3", written(tmp_path, "hostile.json", text))


@pytest.mark.parametrize(
    "text",
    ["a --num-envs 'open", "a --num-envs 1\nb --num-envs 2", "python x.py --num-envs `reboot`"],
    ids=["open quote", "two commands", "substitution"],
)
def test_a_broken_command_line_is_refused(text, tmp_path: Path) -> None:
    with pytest.raises(DialectError):
        explain_file("cleanrl", written(tmp_path, "run.sh", text))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing.yml"
    with pytest.raises(DialectError) as caught:
        explain_file("sb3", path)
    assert str(path) in caught.value.message and caught.value.fix


def test_sections_of_an_ini_file() -> None:
    text = "[train]\nbatch_size = auto\ngamma = 0.9\n[vec]\nnum_envs = 2\n"
    assert parsed(text, ".ini") == {
        "train": {"batch_size": "auto", "gamma": "0.9"},
        "vec": {"num_envs": "2"},
    }


def test_an_ini_file_interpolates_nothing() -> None:
    assert parsed("[a]\nx = %(y)s\n", ".ini") == {"a": {"x": "%(y)s"}}


def test_bindings_of_a_gin_file() -> None:
    text = "import x\nA.size = 64  # each\nA.name = 'b'\nA.net = @networks.C\n"
    assert parsed(text, ".gin") == {"A.size": "64", "A.name": "b", "A.net": "@networks.C"}


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("x = 1\n", ".ini"),
        ("[a]\nx=1\n[a]\n", ".ini"),
        ("A.b = 1\nA.b = 2\n", ".gin"),
        ("{", ".json"),
    ],
    ids=["no section", "section twice", "binding twice", "unclosed"],
)
def test_a_broken_document_is_a_value_error(text: str, suffix: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed(text, suffix)
