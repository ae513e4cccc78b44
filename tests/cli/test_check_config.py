"""`--strict` and `nbyt check-config`: exit codes that a hook or a CI job can rely on."""

import json
import re
from pathlib import Path

import pytest
import yaml
from tests.cli.commands import nbyt

from nbyt.dialects import traps

ROOT = Path(__file__).parents[2]
GOOD = "CartPole-v1: {n_envs: 8, n_steps: 32, batch_size: 256, n_timesteps: 1e5}\n"
BAD = "Pong: {n_envs: 8, n_steps: 125, batch_size: 64}\n"
REFUSED = "nenvs: 3\nnsteps: 5\n"

STRICT = {
    "no trap": (["explain", "sb3"], 0),
    "a trap": (["explain", "sb3", "n_steps=33"], 1),
    "an allowed trap": (["explain", "sb3", "n_steps=33", "--allow", "minibatch_larger"], 0),
    "refused": (["explain", "ppo2", "nenvs=3", "nsteps=5"], 1),
    "missing": (["explain", "rsl_rl"], 2),
    "no such trap": (["explain", "sb3", "--allow", "minibatch_largr"], 2),
    "the same layout": (["translate", "sb3", "cleanrl", "total_timesteps=204800"], 0),
    "a lost layout": (["translate", "sb3", "dopamine", "n_envs=8"], 1),
    "a good second side": (["compare", "sb3", "n_steps=33", "--", "sb3"], 0),
    "a bad second side": (["compare", "sb3", "--", "sb3", "n_steps=33"], 1),
}


@pytest.mark.parametrize(("arguments", "code"), STRICT.values(), ids=STRICT)
def test_strict_decides_the_exit_code_and_nothing_else(arguments: list[str], code: int) -> None:
    done = nbyt(*arguments, "--strict", code=code)
    if code != 2:
        assert done.stdout == nbyt(*arguments).stdout


def written(folder: Path, **texts: str) -> list[str]:
    """Write files and return their paths."""
    paths = [folder / f"{name}.yml" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def test_every_entry_of_every_file_is_checked(tmp_path: Path) -> None:
    paths = written(tmp_path, good=GOOD, both=GOOD + BAD, other="a: {b: 1}\n")
    data = json.loads(nbyt("check-config", "sb3", *paths, "--json", code=1).stdout)["data"]
    assert [(Path(row["file"]).stem, row["entry"]) for row in data["checked"]] == [
        ("good", "CartPole-v1"),
        ("both", "CartPole-v1"),
        ("both", "Pong"),
    ]
    assert [bool(row["traps"]) for row in data["checked"]] == [False, False, True]
    nbyt("check-config", "sb3", *paths, "--allow", "short_tail")
    said = nbyt("check-config", "sb3", *paths, code=1).stdout
    assert "trap short_tail" in said and "fix: batch_size=50" in said and "error: 1" in said


def test_a_refused_setting_and_a_contradiction_fail(tmp_path: Path) -> None:
    refused, odd = written(tmp_path, refused=REFUSED, odd="num_envs: 8\nbatch_size: 9\n")
    assert "trap refused" in nbyt("check-config", "ppo2", refused, code=1).stdout
    assert "contradicts" in nbyt("check-config", "cleanrl", odd, code=1).stdout


def test_what_no_file_has_can_be_set(tmp_path: Path) -> None:
    (path,) = written(tmp_path, rsl="num_steps_per_env: 24\nnum_mini_batches: 4\n")
    assert "not checked: no num_envs" in nbyt("check-config", "rsl_rl", path).stdout
    given = ["check-config", "rsl_rl", path, "--set", "num_envs=4096"]
    assert "same_permutation" in nbyt(*given, code=1).stdout
    assert "4,096 envs" in nbyt(*given, "--allow", "same_permutation").stdout


@pytest.mark.parametrize("words", [[], ["/nowhere.yml"]], ids=["no file", "missing file"])
def test_wrong_requests_exit_2(words: list[str]) -> None:
    assert "fix:" in nbyt("check-config", "sb3", *words, code=2).stderr


def test_the_codes_that_can_be_allowed_are_those_that_exist() -> None:
    source = Path(traps.__file__).read_text()
    assert {code for code in traps.CODES if f'"{code}"' in source} == set(traps.CODES)
    named = set(re.findall(r'Trap\(\s*"(\w+)"', source)) | set(re.findall(r'"(\w+_tail)"', source))
    assert named <= set(traps.CODES)


def test_the_hook_and_the_examples_name_a_command_that_exists() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"].split() == ["nbyt", "check-config"]
    folder = ROOT / "examples" / "check-config"
    config = yaml.safe_load((folder / "pre-commit-config.yaml").read_text())
    assert config["repos"][0]["hooks"][0]["id"] == hook["id"]
    workflow = yaml.safe_load((folder / "workflow.yml").read_text())
    runs = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert sum("nbyt check-config" in run for run in runs) == 2
