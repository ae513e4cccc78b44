"""`nbyt advise` and `nbyt report` as a user gives them: JSON, 80 columns, refusals, Ctrl-C."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.commands import NBYT, nbyt

from nbyt.cli import main

SMALL = ("--steps", "4,16", "--trainings", "2", "--total", "2560", "--costs", "parallel")
COMMAND = ("advise", "FrozenLake-v1", "--batch", "64", "--network", "table", *SMALL)
ESTIMATE = {"value", "low", "high"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an advice on FrozenLake."""
    out = tmp_path_factory.mktemp("runs") / "advice"
    assert main.run([*COMMAND, "--current", "16x4", "--quiet", "--out", str(out)]) == 0
    return out


def _json(capsys: pytest.CaptureFixture[str], *tokens: str, code: int = 0) -> dict:
    assert main.run([*tokens, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_json_keeps_its_promise(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = _json(capsys, *COMMAND, "--out", str(folder))
    assert record["status"] == "ok" and record["command"] == "advise"
    data = record["data"]
    for goal in ("time", "samples"):
        one = data["advice"][goal]
        assert set(one["expected_loss"]) >= ESTIMATE
        assert one["p_within_5"] is None and one["rests_on"] in ("race", "prior")
        assert one["sentence"] and all(isinstance(line, str) for line in one["reasons"])
    assert all(len(split) == 2 for split in data["safe_range"])
    for layout in data["layouts"]:
        assert set(layout["loss"]) >= ESTIMATE and layout["trainings"] >= 0
    assert {"trainings", "samples", "seconds"} == set(data["cost"])
    assert {"version", "tasks"} <= set(data["prior"])
    for stage in data["stages"]:
        assert {"updates", "mean_return", "layouts"} <= set(stage)
    assert Path(data["report"]).is_absolute() and Path(data["report"]).exists()
    assert data["reproduce"].startswith("nbyt advise tabular:FrozenLake-v1 --batch 64")


def test_the_terminal_gets_80_columns_with_the_answer_first_and_the_report_last(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main.run([*COMMAND, "--current", "16x4", "--quiet", "--out", str(folder)]) == 0
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    text = "\n".join(lines)
    assert max(len(line) for line in lines if not line.startswith("report:")) <= 80
    assert lines[-1].startswith("report:") and "…" not in text
    assert lines[0].startswith(("Fastest: ", "Nothing learnt"))
    assert "For the fewest samples: " in text and "Your 16 x 4" in text
    assert re.search(r"^ *(16x4|4x16)\*", text, re.MULTILINE)


def test_a_path_is_not_taken_for_markup(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "x[/b]y"
    shutil.copytree(folder, copy)
    assert main.run([*COMMAND, "--out", str(copy)]) == 0
    assert main.run(["report", str(copy)]) == 0
    assert "".join(capsys.readouterr().out.split()).count("x[/b]y/report.html") == 2


def test_report_makes_the_page_anew_without_jax(folder: Path, tmp_path: Path) -> None:
    page = folder / "report.html"
    before = page.read_bytes()
    page.unlink()
    script = (
        "import sys; from nbyt.cli import main; "
        f"code = main.run(['report', {str(folder)!r}]); "
        "assert 'jax' not in sys.modules, 'JAX was imported'; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert page.read_bytes() == before and str(page) in done.stdout.replace("\n", "")
    assert main.run(["report", str(folder), "--out", str(tmp_path / "x.html"), "--quiet"]) == 0
    assert (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (("advise", "FrozenLake-v1", "--batch", "2003", "--max-envs", "64"), "nothing to compare"),
        (
            ("advise", "FrozenLake-v1", "--budget", "10m", "--total", "100_000"),
            "say the same thing twice",
        ),
        (("advise", "FrozenLake-v1", "--batch", "64", "--costs", "nowhere"), "neither a way"),
        (("advise", "FrozenLake-v1", "--batch", "64", "--per", "sample"), "no longer an option"),
        (("advise", "FrozenLake-v1", "--batch", "64", "--weigh", "samples"), "no longer an option"),
        (("advise", "FrozenLake-v1", "--batch", "64", "--objective", "critic"), "no longer an"),
        (("advise", "FrozenLake-v1", "--batch", "64", "--objective", "both"), "no longer an"),
        (("advise", "FrozenLake-v1", "--batch", "64", "--objective", "speed"), "no objective"),
        (("advise", "FrozenLake-v1", "--batch", "64", "--trainings", "-1"), "--trainings must be"),
        (("advise", "FrozenLake-v1", "--budget", "soon"), "--budget must be a time"),
        (("advise", "FrozenLake-v1", "--batch", "64", "--current", "8x16"), "128 samples, not 64"),
        (("advise", "FrozenLake-v1", "--batch", "64", "--current", "8by8"), "8by8"),
        (
            ("advise", "FrozenLake-v1", "--batch", "64", "--time-limit", "2M"),
            "--time-limit must be a time",
        ),
        (("advise", "FrozenLake-v1", "--batch", "64", "--lambda", "2"), "between 0 and 1"),
        (("advise", "FrozenLake-v1", "--batch", "64", "--from", "nowhere"), "neither a stage"),
        (("report", "nowhere"), "nowhere does not exist"),
    ],
)
def test_bad_input_is_refused_in_words(
    tokens: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = () if tokens[0] == "report" else ("--out", str(tmp_path / "out"))
    assert main.run([*tokens, *out]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert words in said and "fix:" in said and "Traceback" not in said
    assert not (tmp_path / "out").exists()


def test_the_current_layout_may_be_said_in_a_librarys_words(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ("--current", "sb3", "n_envs=16", "n_steps=4", "batch_size=64", "n_epochs=4")
    data = _json(capsys, *COMMAND, *own, "--out", str(folder))["data"]
    assert (data["current"]["envs"], data["current"]["steps"]) == (16, 4)


def test_settings_of_a_library_are_part_of_the_question(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder says what differs from the question that it was made for."""
    own = ("--current", "sb3", "n_envs=16", "n_steps=4", "batch_size=32", "n_epochs=10")
    own = (*own, "gamma=0.9", "gae_lambda=0.8", "learning_rate=0.001", "ent_coef=0.01")
    assert main.run([*COMMAND, *own, "--out", str(folder)]) != 0
    said = " ".join(capsys.readouterr().err.split())
    for changed in ("minibatch: 64 -> 32", "epochs: 4 -> 10", "gamma: 0.99 -> 0.9", "0.001"):
        assert changed in said
    assert "lambda" in said and "entropy_coefficient: 0.0 -> 0.01" in said


def test_only_what_changes_in_the_users_settings_is_pasted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best = _json(capsys, *COMMAND, "--out", str(folder))["data"]["schedule"]
    envs, steps = (4, 16) if best["steps"] == 4 else (16, 4)
    own = ("--current", "sb3", f"n_envs={envs}", f"n_steps={steps}", "batch_size=64", "n_epochs=4")
    tokens = (*COMMAND, *own, "--out", str(folder))
    data = _json(capsys, *tokens)["data"]
    assert data["settings"][0]["changes"] == {"n_envs": best["envs"], "n_steps": best["steps"]}
    paste = f"n_envs={best['envs']}, n_steps={best['steps']}"
    assert data["settings"][0]["paste"] == paste
    assert data["current_settings"]["carried"]["minibatch"] == 64
    page = (folder / "report.html").read_text()
    assert "Only what changes" in page and "total_timesteps=" not in page
    assert main.run([*tokens, "--quiet"]) == 0
    assert f"in Stable-Baselines3: {paste}" in capsys.readouterr().out


def test_a_flag_wins_over_the_users_settings_and_what_is_not_carried_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ("--current", "sb3", "n_envs=16", "n_steps=4", "gamma=0.9", "use_sde=true", "n_epochs=10")
    flags = ("--gamma", "0.99", "--epochs", "4", "--minibatch", "64")
    record = _json(capsys, *COMMAND, *own, *flags, "--out", str(folder))
    said = " ".join(record["warnings"])
    assert "--gamma 0.99 is used, not gamma=0.9" in said
    assert "--epochs 4 is used, not n_epochs=10" in said
    assert "not carried: use_sde=true" in said
    assert {"gamma": 0.99, "n_epochs": 4}.items() <= record["data"]["settings"][0][
        "changes"
    ].items()
    page = (folder / "report.html").read_text()
    assert "use_sde=true" in page and "Nothing is lost" not in page


def test_a_dry_run_says_the_cost_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = _json(capsys, *COMMAND, "--dry-run", "--out", str(tmp_path / "out"))["data"]
    assert data["race_steps"] > 2000 and data["seconds"] > 0 and data["seeds"] == 4
    assert data["arms"] == "16x4, 4x16"
    assert not (tmp_path / "out").exists()


def test_a_budget_of_samples_is_the_training_that_is_planned(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tokens = ("advise", "FrozenLake-v1", "--budget", "5k", "--batch", "64", "--network", "table")
    given = (*tokens, "--trainings", "1", "--steps", "4,16", "--objective", "samples", "--dry-run")
    # One training, and the quarter that is trained again to be measured.
    assert _json(capsys, *given)["data"]["race_steps"] == pytest.approx(6250, rel=0.1)
    assert list(tmp_path.iterdir()) == []


def test_without_trainings_the_usual_t_is_told_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tokens = ("advise", "CartPole-v1", "--trainings", "0", "--out", str(tmp_path / "out"))
    data = _json(capsys, *tokens)["data"]
    assert data["batch"] == 2048 and data["cost"]["samples"] == 0
    assert data["advice"]["time"]["rests_on"] == data["advice"]["samples"]["rests_on"] == "prior"
    assert 4 <= data["advice"]["time"]["steps"] <= 64  # on parallel hardware
    assert data["advice"]["samples"]["steps"] >= 128


SLOW = """
import time
import gymnasium
from gymnasium.wrappers import TimeLimit

class Slow(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        if WAIT:
            time.sleep(WAIT)
        ended = self.np_random.random() < 0.1
        return int(self.np_random.random() < 0.5), float(action), ended, False, {}

def make_env():
    return TimeLimit(Slow(), 20)
"""


def test_an_env_too_slow_for_the_effort_is_told_and_quick_is_offered(tmp_path: Path) -> None:
    (tmp_path / "slow_env.py").write_text(SLOW.replace("WAIT", "0.05"))
    done = nbyt("advise", "slow_env:make_env", "--batch", "256", cwd=tmp_path, code=2)
    said = " ".join(done.stderr.split())
    assert "this would take about" in said and "--trainings" in said and "ms" in said
    assert not (tmp_path / "runs").exists()


def test_ctrl_c_gives_the_answer_so_far_and_the_same_command_goes_on(tmp_path: Path) -> None:
    (tmp_path / "calm_env.py").write_text(SLOW.replace("WAIT", "0.0005"))
    tokens = ["advise", "calm_env:make_env", "--batch", "64", *SMALL, "--stages", "0"]
    tokens += ["--gamma", "0.9", "--out", "advice"]
    running = subprocess.Popen(
        [*NBYT, *tokens, "--json"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    folder = tmp_path / "advice"

    def trained() -> set[str]:
        return {path.name.partition("-seed")[0] for path in folder.glob("cell-*.json")}

    while len(trained()) < 2 and running.poll() is None:
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGINT)
    printed, said = running.communicate(timeout=60)
    kept = {path: path.read_bytes() for path in folder.glob("cell-*.json")}
    assert running.returncode == 130, said
    record = json.loads(printed)
    assert record["status"] == "interrupted" and record["data"]["advice"]["time"]["steps"] in (
        4,
        16,
    )
    assert any("the same command goes on" in one for one in record["warnings"])
    nbyt(*tokens, cwd=tmp_path)
    assert len(list(folder.glob("cell-*.json"))) == 8 > len(kept)
    assert all(path.read_bytes() == text for path, text in kept.items())
    assert (folder / "report.html").exists()
