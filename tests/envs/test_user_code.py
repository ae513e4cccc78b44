"""A user's own device env: what the user typed is what finds it again, everywhere."""

import json
from pathlib import Path

import pytest
from tests.sweeps.small import ROOT, outcomes

from nbyt.cli import main
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.envs.tabular import TabularEnv
from nbyt.policy.files import read_stage
from nbyt.sweeps.grid import make_grid
from nbyt.sweeps.workers import Workers

OWN = "tests.faults.own_device"
TYPED = f"{OWN}:make_env"
SIZES = "--envs 4 --steps 16 --minibatch 16 --epochs 1 --total 640 --network 8"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict:
    """What a command answers."""
    assert main.run([*words, "--json", "--quiet"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["make_env", "make_table", "walk"])
def test_the_id_is_what_was_typed(name: str) -> None:
    env = resolve(f"{OWN}:{name}")
    assert env.id == f"{OWN}:{name}"
    assert isinstance(env, DeviceEnv) and not isinstance(env, HostEnv)
    assert isinstance(env, TabularEnv) == (name == "make_table"), "exact answers need the tables"
    hash(env)


def test_train_resume_and_probe_find_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = ["train", TYPED, *SIZES.split(), "--out", str(out)]
    assert told(capsys, *words)["data"]["env"] == TYPED
    assert told(capsys, *words)["data"]["env"] == TYPED, "the same command finds it done"
    assert read_stage(out / "stage-1").facts["env"] == TYPED
    sizes = ["--batch", "32", "--chains", "8", "--skip-phase"]
    told(capsys, "probe", str(out / "stage-1"), "--env", TYPED, *sizes)
    refused = told(capsys, "probe", str(out / "stage-1"), *sizes, code=2)
    assert TYPED in json.dumps(refused["error"]), "not imported unless the user says so"


@pytest.mark.parametrize("runner", [None, Workers(1, cell_limit=600)])
def test_a_sweep_finds_it_here_and_in_other_processes(
    runner: Workers | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = {"batch": 32, "total": 64, "minibatch": 16, "epochs": 1, "layouts": ((2, 16),)}
    if runner is None:
        words = "--batch 32 --layouts 2x16 --total 64 --minibatch 16 --seeds 1 --no-advice"
        found = told(capsys, "sweep", TYPED, *words.split(), "--out", str(tmp_path / "sweep"))
        assert found["data"]["cells"]["done"] == 1 and found["data"]["env"] == TYPED
        return
    grid = make_grid(resolve(TYPED), seeds=1, **sizes)
    (curve,) = outcomes(runner, grid).values()
    assert len(curve.returns) > 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Raising", "ZeroDivisionError: the user's own words"),
        ("Growing", "step turns a state of"),
    ],
)
def test_what_it_breaks_is_an_error_of_the_env(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", f"{OWN}:{name}", *SIZES.split(), "--out", str(tmp_path / "run")]
    error = told(capsys, *words, code=1)["error"]
    assert said in error["message"] and error["code"] == "env"
