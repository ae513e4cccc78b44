"""`nbyt audit` as a user gives it."""

import json
from pathlib import Path

import pytest

from nbyt.cli import main
from nbyt.measure import auditing

SIZES = ["--batch", "256", "--minibatch", "32", "--epochs", "2"]
CODE = """
import numpy as np


def right(batch, minibatch, epochs, seed):
    generator = np.random.default_rng(seed)
    for _ in range(epochs):
        yield from generator.permutation(batch).reshape(-1, minibatch)


def fetched(batch, minibatch, epochs, seed):
    generator = np.random.default_rng(seed)
    for _ in range(epochs * batch // minibatch):
        yield generator.integers(batch, size=minibatch)


def floats(batch, minibatch, epochs, seed):
    yield np.linspace(0, 1, minibatch)


def endless(batch, minibatch, epochs, seed):
    while True:
        yield np.arange(minibatch)


def broken(batch, minibatch, epochs, seed):
    raise RuntimeError("on fire")


number = 7
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_samplers.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_whole_answer_as_json(place, capfd, monkeypatch) -> None:
    monkeypatch.setattr(auditing, "_BATCHES", (8, 16))
    monkeypatch.setattr(auditing, "_TRAINED", 2)
    arguments = ["audit", "own_samplers:fetched", *SIZES, "--envs", "8", "--json"]
    assert main.run(arguments) == 0
    record = json.loads(capfd.readouterr().out)
    data = record["data"]
    assert record["status"] == "ok" and record["command"] == "audit"
    assert data["ok"] is False and data["coverage"] == pytest.approx(0.632, abs=0.03)
    assert {fault["code"] for fault in data["faults"]} == {"unused", "repeated"}
    assert all(set(fault) == {"code", "message"} for fault in data["faults"])
    penalty = data["variance_penalty"]
    assert 1 < penalty["low"] <= penalty["value"] <= penalty["high"] < 1.3
    assert set(data["penalties"]) == {"actor", "critic"}
    assert data["rollouts"]["envs"] == 8 and data["rollouts"]["steps"] == 32
    assert data["minibatch_sizes"] == [32] * 8 and data["unused"] > 80


def test_strict_fails_on_faults_alone(place, capfd) -> None:
    quick = [*SIZES, "--skip-rollout", "--json"]
    for sampler, code in [("own_samplers:right", 0), ("own_samplers:fetched", 1), ("brax", 1)]:
        assert main.run(["audit", sampler, *quick, "--strict"]) == code
        record = json.loads(capfd.readouterr().out)
        assert record["data"]["ok"] is (code == 0)
        assert record["status"] == ("failed" if code else "ok")
    assert main.run(["audit", "brax", *quick]) == 0


def test_people_read_a_verdict_first_and_80_columns(place, capfd, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main.run(["audit", "rsl_rl", "--batch", "1000", *SIZES[2:], "--skip-rollout"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "not ok: same_permutation, tail_dropped"
    assert all(len(line) <= 80 for line in lines)
    assert main.run(["audit", "own_samplers:right", *SIZES, "--skip-rollout"]) == 0
    assert capfd.readouterr().out.startswith("ok: every epoch is a fresh uniform shuffle")


def test_a_dry_run_calls_nothing(place, capfd) -> None:
    assert main.run(["audit", "own_samplers:broken", *SIZES, "--dry-run", "--json"]) == 0
    data = json.loads(capfd.readouterr().out)["data"]
    assert data["envs"] * data["steps"] == 256
    assert data["samples"] == 256 * data["batches"]


WRONG = {
    "no module": (["no_such_module:sampler"], "cannot be imported"),
    "no name": (["own_samplers:nothing"], "cannot be imported"),
    "no scheme": (["braks"], "did you mean brax"),
    "not callable": (["own_samplers:number"], "no sampler can be made"),
    "floats": (["own_samplers:floats"], "not an array of whole numbers"),
    "endless": (["own_samplers:endless"], "reading stopped there"),
    "raises": (["own_samplers:broken"], "RuntimeError: on fire"),
    "no shape": (["own_samplers:right", "--envs", "7"], "divisor of 256"),
    "wrong shape": (["own_samplers:right", "--envs", "8", "--steps", "8"], "--envs 32"),
    "wrong order": (["own_samplers:right", "--order", "sideways"], "env-major"),
    "no env": (["own_samplers:right", "--env", "CartPool-v1"], "CartPole-v1"),
    "no stage": (["own_samplers:right", "--from", "nowhere"], "nowhere"),
    "refused by a scheme": (["purejaxrl", "--minibatch", "33"], "divisor of 256"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_refused_in_words(place, capfd, case) -> None:
    arguments, expected = WRONG[case]
    sizes = SIZES[:2] + SIZES[4:] if "--minibatch" in arguments else SIZES
    assert main.run(["audit", *arguments, *sizes, "--json"]) == 2
    told = capfd.readouterr()
    error = json.loads(told.out)["error"]
    assert error["message"] and error["where"] and error["fix"]
    assert expected in f"{error['message']} {error['where']} {error['fix']}"
    assert "Traceback" not in told.err
