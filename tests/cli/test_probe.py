"""`nbyt probe` as a user gives it: JSON, tables of 80 columns, controls, and refusals in words."""

import json
import shutil
from pathlib import Path

import pytest
from tests.golden.pinned import FOLDERS

from nbyt.cli import main
from nbyt.policy.actor_critic import Stage, table
from nbyt.policy.files import stage_files
from nbyt.store.files import STAGE
from nbyt.store.run import Folder

_SIZES = ("--steps", "4,16", "--chains", "8", "--chain-steps", "16")
_NUMBERS = {
    *("individual", "covariance", "variance", "ess_ratio", "bias_sq"),
    *("mse", "cosine", "bias_factor", "noise_factor", "alignment"),
}


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder, its first stage a policy on FrozenLake, its second one that names code."""
    folder = tmp_path_factory.mktemp("runs")
    command = ("train", "FrozenLake-v1", "--envs", "4", "--steps", "8", "--minibatch", "16")
    done = main.run([*command, "--total", "64", "--stages", "1", "--quiet", "--out", str(folder)])
    assert done == 0
    return folder


def _json(capsys: pytest.CaptureFixture[str], *tokens: str, code: int = 0) -> dict:
    assert main.run([*tokens, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_json_keeps_its_promise(stages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stage, out = stages / "stage-1", stages.parent / "kept"
    tokens = (
        "probe",
        str(stage),
        "--batch",
        "64",
        *_SIZES,
        "--lambda",
        "0.9,0.5",
        "--out",
        str(out),
    )
    record = _json(capsys, *tokens)
    data = record["data"]
    assert record["status"] == "ok" and record["command"] == "probe"
    assert data["env"] == "tabular:FrozenLake-v1" and data["batch"] == 64
    assert (data["gamma"], data["lambda"], data["lambdas"]) == (0.99, 0.9, [0.9, 0.5])
    assert data["pool"]["chains"] == 8 and data["pool"]["steps"] == 16
    assert set(data["critic"]["explained_variance"]) >= {"value", "low", "high"}
    assert [(one["envs"], one["steps"], one["lambda"]) for one in data["layouts"]] == [
        *((16, 4, 0.9), (16, 4, 0.5), (4, 16, 0.9), (4, 16, 0.5))
    ]
    for one in data["layouts"]:
        for gradient in ("actor", "critic", "total"):
            assert set(one[gradient]) >= _NUMBERS
            for number in one[gradient].values():
                assert number["value"] is not None or number["reason"]
    assert data["sources"]["reason"] == "not asked for"
    assert Path(data["stage"]).is_absolute()
    assert (out / "measurement.json").is_file()


def test_the_page_of_another_command_is_not_replaced(
    stages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "advice"
    shutil.copytree(FOLDERS / "advise", out)
    asked = ["probe", str(stages / "stage-1"), "--batch", "64", *_SIZES, "--out", str(out)]
    assert main.run([*asked, "--quiet"]) == 2
    assert "holds an advice, made by `nbyt advise`" in " ".join(capsys.readouterr().err.split())
    assert not (out / "measurement.json").exists()


@pytest.mark.parametrize("full", [False, True])
def test_tables_fit_in_80_columns(
    full: bool,
    stages: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    asked = ["probe", str(stages / "stage-1"), "--batch", "64", *_SIZES, "--quiet"]
    assert main.run([*asked, *(["--full"] if full else [])]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    assert [line.partition(":")[0] for line in lines[:3]] == ["actor", "critic", "total"]
    assert full or len(lines) <= 24
    text = "\n".join(lines)
    details = ("does it point the right way?", "how much does it scatter?")
    assert all((words in text) is full for words in details)
    for words in ("16x4", "ESS/NT", "chains"):
        assert words in text


def test_a_control_is_printed_beside_its_exact_answer(capsys: pytest.CaptureFixture[str]) -> None:
    record = _json(capsys, "probe", "--control", "sticky", "--chains", "16")
    rows = record["data"]["control"]["rows"]
    shown = {(row["steps"], row["gradient"], row["number"]): row for row in rows}
    exact = shown[32, "actor", "ess_ratio"]
    assert exact["exact"] == pytest.approx(0.243, abs=5e-4)
    assert exact["measured"]["low"] < 0.35 and exact["measured"]["high"] > 0.15
    assert shown[32, "actor", "covariance"]["measured"]["low"] > 0


def test_a_control_takes_other_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ("--chains", "8", "--batch", "64", "--steps", "4,16", "--lambda", "0.5")
    data = _json(capsys, "probe", "--control", "sticky", *sizes)["data"]
    rows = data["control"]["rows"]
    assert {(row["envs"], row["steps"]) for row in rows} == {(16, 4), (4, 16)}
    assert data["lambda"] == 0.5


def test_a_dry_run_says_what_it_costs(stages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = ("probe", str(stages / "stage-1"), "--batch", "64", *_SIZES, "--dry-run")
    data = _json(capsys, *tokens)["data"]
    assert data["samples"] == 8 * (16 + 459)
    assert data["bytes"] >= data["pool_bytes"] + data["program_bytes"] > 0


_WRONG = {
    "no split": (["STAGE", "--batch", "64", "--steps", "3"], "nearest: 2, 4"),
    "no batch": (["STAGE"], "--batch 2048"),
    "chains too short": (["STAGE", "--batch", "64", "--steps", "32", "--chain-steps", "8"], "32"),
    "neither": (["--batch", "64"], "--control sticky"),
    "unknown control": (["--control", "nothing"], "frozenlake"),
    "a stage's option": (["--control", "sticky", "--precision", "0.1"], "--precision"),
    "no stage there": (["nowhere", "--batch", "64"], "nowhere"),
    "another env": (["STAGE", "--batch", "64", "--env", "Taxi-v4"], "tabular:FrozenLake-v1"),
    "steps not numbers": (["STAGE", "--batch", "64", "--steps", "few"], "few"),
    "little memory": (["STAGE", "--batch", "64", "--memory", "12"], "512M"),
    "sources elsewhere": (
        ["STAGE", "--batch", "64", *_SIZES, "--skip-phase", "--sources", "32"],
        "not measured",
    ),
    "code in a file": (["CODE", "--batch", "64"], "--trust-env"),
}


@pytest.mark.parametrize("case", _WRONG)
def test_bad_input_is_refused_in_words(
    case: str, stages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, words = _WRONG[case]
    places = {"STAGE": str(stages / "stage-1"), "CODE": str(_stage_that_names_code(tmp_path))}
    tokens = ["probe", *(places.get(word, word) for word in arguments)]
    assert main.run(tokens) in (1, 2)
    shown = capsys.readouterr()
    assert words in " ".join(shown.err.split()) and not shown.out
    assert "Traceback" not in shown.err


def _stage_that_names_code(folder: Path) -> Path:
    made = table([[0.0, 0.0]], [0.0])
    run = Folder(folder)
    run.write(STAGE, stage_files(Stage(made.policy, made.params, {"env": "os:abort"})), 1)
    return folder / "stage-1"
