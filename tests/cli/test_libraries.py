"""`nbyt explain`, `translate` and `compare` as a user gives them, without JAX."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.commands import nbyt

COMMANDS = {
    "explain": ["explain", "sb3", "n_envs=8", "n_steps=125", "total_timesteps=1e6"],
    "translate": ["translate", "ppo1", "sb3", "timesteps_per_actorbatch=256"],
    "compare": ["compare", "sb3", "n_envs=8", "--", "sb3", "n_envs=64"],
    "dialects": ["dialects"],
    "one dialect": ["dialects", "rllib"],
}
HEAVY = ("jax", "jaxlib", "gymnasium", "gymnax", "torch", "optax", "scipy", "numpy")
# Runs commands in this interpreter, then names what they have imported on stderr.
SPY = """
import json, sys
from nbyt.cli import main
code = max(main.run(words) for words in json.loads(sys.argv[1]))
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""


def test_no_command_imports_anything_heavy() -> None:
    commands = json.dumps(list(COMMANDS.values()))
    done = subprocess.run(
        [sys.executable, "-c", SPY, commands], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stderr.splitlines()[-1].split()
    assert "nbyt" in loaded and not set(HEAVY) & set(loaded)


def _computing(*arguments: str) -> float:
    """The least of three, in seconds of the processor: a busy machine is not our delay."""
    seconds = []
    for _ in range(3):
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, timeout=60)
        after = os.times()
        used = after.children_user + after.children_system
        seconds.append(used - before.children_user - before.children_system)
    return min(seconds)


def test_an_answer_costs_little_more_than_the_libraries_that_print_it() -> None:
    libraries = _computing("-c", "import cyclopts, rich.console, rich.table, tomllib")
    assert _computing("-m", "nbyt.cli.main", *COMMANDS["explain"]) < 4 * libraries


def test_a_layout_of_another_library_can_be_trained_here() -> None:
    done = nbyt("translate", "cleanrl", "nbyt", "--json")
    paste = json.loads(done.stdout)["data"]["paste"]
    words = paste.replace("ENV", "CartPole-v1").split()
    again = json.loads(nbyt(*words[1:], "--dry-run", "--json").stdout)["data"]["layout"]
    assert (again["envs"], again["steps"], again["minibatch"]) == (4, 128, 128)


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_people_get_80_columns_and_machines_one_object(arguments, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = nbyt(*arguments).stdout.splitlines()
    pasted = [line for line in lines if line.startswith("model = PPO(")]
    assert lines and all(len(line) <= 80 for line in lines if line not in pasted)
    record = json.loads(nbyt(*arguments, "--json").stdout)
    assert record["command"] == arguments[0] and record["status"] == "ok"


def test_explain_keeps_its_promise() -> None:
    done = nbyt(*COMMANDS["explain"], "batch_size=64", "n_epochs=10", "--json")
    data = json.loads(done.stdout)["data"]
    assert data["layout"] | {"fragment": 125} == {
        "envs": 8,
        "steps": 125,
        "batch": 1000,
        "minibatch": 64,
        "minibatches": 16,
        "epochs": 10,
        "fragment": 125,
    }
    schedule = data["schedule"]
    assert schedule["updates"] == 1000 and schedule["gradient_steps_per_update"] == 160
    assert schedule["gradient_steps"] == 160_000
    assert schedule["minibatch_sizes"] == [64] * 15 + [40]
    assert data["filled_defaults"]["gae_lambda"] == 0.95
    (trap,) = data["traps"]
    assert {"code", "message", "fix"} <= set(trap) and "batch_size=50" in trap["fix"]


def test_translate_keeps_its_promise() -> None:
    data = json.loads(nbyt(*COMMANDS["translate"], "processes=8", "--json").stdout)["data"]
    assert data["settings"]["n_steps"] == 256 and data["settings"]["batch_size"] == 512
    assert "n_steps=256" in data["paste"] and data["exact"] is True
    assert all({"code", "message"} <= set(one) for one in data["differences"])


def test_compare_answers_why_more_envs_are_worse() -> None:
    arguments = ("n_steps=1024", "batch_size=1024")
    done = nbyt("compare", "sb3", "n_envs=8", *arguments, "--", "sb3", "n_envs=64", *arguments,
                "--json")  # fmt: skip
    data = json.loads(done.stdout)["data"]
    factors = {change["name"]: change["factor"] for change in data["changes"]}
    assert factors["batch"] == 8 and factors["updates per million steps"] == 1 / 8
    assert factors["mini-batch"] == 1 and factors["gradient steps per sample"] == 1
    assert "batch" in {finding["code"] for finding in data["findings"]}
    assert [one["n_steps"] for one in data["equal_batch"] if one["n_envs"] == 64] == [128]


def test_compare_tells_that_the_learning_rate_did_not_follow() -> None:
    done = nbyt("compare", "cleanrl", "num_envs=64", "--", "cleanrl", "num_envs=2048")
    said = " ".join(done.stdout.split())
    assert "mini-batch is 32 times" in said and "5.66 times the rate" in said
    assert "keep the mini-batch (num_minibatches=128)" in said
    refused = nbyt("compare", "sb3", "--", "ppo2", "nenvs=3", "nsteps=5")
    assert "after: 15 samples do not split" in " ".join(refused.stdout.split())
    same = nbyt("compare", "sb3", "--", "sb3")
    assert "nothing that matters" in same.stdout


def test_a_file_is_read_and_the_command_line_wins(tmp_path: Path) -> None:
    path = tmp_path / "ppo.yml"
    path.write_text("n_envs: 4\nn_steps: ${steps}\npolicy: MlpPolicy\nn_epoch: 3\n")
    done = nbyt("explain", "sb3", "--file", str(path), "n_steps=64", "--json")
    record = json.loads(done.stdout)
    assert record["data"]["layout"]["batch"] == 256
    assert record["warnings"] == [
        "Stable-Baselines3 has no setting 'n_epoch' here: ignored; did you mean n_epochs?"
    ]
    both = nbyt("compare", "--file", str(path), "sb3", "n_steps=64", "--", "sb3", "--json")
    assert json.loads(both.stdout)["data"]["before"]["layout"]["envs"] == 4


WRONG = {
    "word of another": (["explain", "sb3", "num_steps=8"], "n_steps"),
    "nearest": (["explain", "sb3", "n_step=8"], "n_steps"),
    "contradiction": (["explain", "cleanrl", "batch_size=9"], "num_steps=128"),
    "library": (["explain", "sb33"], "sb3"),
    "target": (["translate", "sb3", "torchlr"], "torchrl"),
    "no pair": (["explain", "sb3", "n_steps"], "key=value"),
    "no value": (["explain", "sb3", "n_steps="], "key=value"),
    "one side": (["compare", "sb3", "n_envs=8"], "--"),
    "three sides": (["compare", "sb3", "--", "sb3", "--", "sb3"], "--"),
    "no side": (["compare"], "--"),
    "option": (["compare", "sb3", "--", "sb3", "--jsn"], "--jsn"),
    "refused at the source": (["translate", "ppo2", "sb3", "nenvs=3", "nsteps=5"], "nminibatches"),
    "missing file": (["explain", "sb3", "--file", "no.yml"], "no.yml"),
    "entry alone": (["explain", "sb3", "--entry", "a"], "--file"),
    "no library": (["explain"], "dialect"),
}


@pytest.mark.parametrize(("arguments", "said"), WRONG.values(), ids=WRONG)
def test_wrong_requests_are_told_in_words_and_exit_2(arguments, said) -> None:
    done = nbyt(*arguments, "--json", code=2)
    record = json.loads(done.stdout)
    assert record["status"] == "failed" and record["data"] is None
    error = record["error"]
    assert set(error) == {"code", "message", "where", "fix"} and error["where"] and error["fix"]
    assert said.lower() in done.stderr.lower()


def test_a_reader_that_goes_away_gets_no_traceback() -> None:
    call = "from nbyt.cli.main import main; main()"
    command = [sys.executable, "-c", call, "explain", "sb3", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stderr is not None
        child.stdout.close()
        said = child.stderr.read().decode()
    assert child.returncode == 1
    assert "Traceback" not in said and "BrokenPipe" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("dialects", 1, "a write failed"),
        ("explain sb3 n_envs=8 --json", 1, "a write failed"),
        ("explain sb3 n_envs=0 --json", 2, "n_envs must be a whole number"),
    ],
)
def test_output_to_a_full_disk_is_an_error_in_three_parts(words: str, code: int, said: str) -> None:
    command = [sys.executable, "-m", "nbyt.cli.main", *words.split()]
    with Path("/dev/full").open("w") as full:
        heard = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        unheard = subprocess.run(command, stdout=full, stderr=full, timeout=60)
    assert (heard.returncode, unheard.returncode) == (code, code)
    assert said in heard.stderr and "fix:" in heard.stderr and "Traceback" not in heard.stderr
