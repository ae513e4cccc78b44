"""nbyt.advise from end to end, on small problems with real trainings and measurements."""

import json
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

import nbyt
from nbyt.advice import run as advising
from nbyt.errors import EnvError, StoreError
from nbyt.exact import frozenlake
from nbyt.results import plain
from nbyt.store.files import ADVICE
from nbyt.store.run import Folder
from nbyt.training.plan import PPOSettings

SMALL = {
    "batch": 64,
    "steps": [4, 16],
    "trainings": 2,
    "total": 2560,
    "settings": PPOSettings(network="table", learning_rate=0.02),
}


@pytest.fixture(scope="module")
def advised(tmp_path_factory: pytest.TempPathFactory) -> advising.Advice:
    """An advice on FrozenLake, with updates timed here and a stage that explains it."""
    out = tmp_path_factory.mktemp("runs") / "advice"
    return nbyt.advise("FrozenLake-v1", out=out, current=(16, 4), **SMALL)


def test_the_data_keep_their_promise(advised) -> None:
    data = advised.as_dict()
    for goal in ("time", "samples"):
        one = data["advice"][goal]
        assert {"envs", "steps", "expected_loss", "p_within_5", "rests_on"} <= set(one)
        assert one["envs"] * one["steps"] == 64
        assert set(one["expected_loss"]) >= {"value", "low", "high"}
    assert data["advice"]["samples"]["rests_on"] == "prior"
    assert data["advice"]["time"]["p_within_5"] is None  # below four trainings
    assert all({"envs", "steps", "loss", "trainings"} <= set(one) for one in data["layouts"])
    assert data["cost"]["trainings"] == pytest.approx(2, abs=0.1)
    assert data["cost"]["samples"] > 2000 and data["cost"]["seconds"] > 0
    assert set(data["prior"]) == {"version", "sha256", "tasks"}
    assert data["current"]["sentence"] and data["costs"]["timed"]
    json.dumps(data, allow_nan=False)


def test_python_has_the_same_as_types(advised) -> None:
    assert advised.time.envs * advised.time.steps == 64
    assert advised.samples.rests_on == "prior" and advised.cost.samples > 0
    assert {one.steps for one in advised.layouts} >= {4, 16}
    assert advised.prior.tasks >= 10 and advised.safe_range == ()
    best = advised.time
    assert f"time={best.envs}x{best.steps}" in repr(advised) and len(repr(advised)) < 100
    assert str(best.steps) in str(advised) and "quarter trainings" in str(advised)


def test_everything_is_kept_and_the_page_is_there(advised) -> None:
    folder = Path(advised.data["out"])
    assert plain(Folder(folder).require(ADVICE)) == json.loads(json.dumps(advised.data))
    assert advised.report == folder / "report.html" and advised.report.stat().st_size > 10_000
    card = advised._repr_html_()
    assert str(advised.time.steps) in card and "<script" not in card


def test_the_same_question_is_answered_from_the_folder(advised, monkeypatch) -> None:
    def no(*args, **kwargs):
        raise AssertionError("done again")

    monkeypatch.setattr(advising, "measure_costs", no)
    monkeypatch.setattr("nbyt.advice.stages.train", no)
    monkeypatch.setattr("nbyt.advice.measuring.examine", no)
    monkeypatch.setattr("nbyt.sweeps.cells.train_seeds", no)
    again = nbyt.advise("FrozenLake-v1", out=advised.data["out"], current=(16, 4), **SMALL)
    for key in ("advice", "layouts", "race", "stages", "current"):
        assert again.data[key] == advised.data[key], key


def test_a_larger_race_keeps_the_trainings_of_a_smaller_one(advised, tmp_path: Path) -> None:
    out = tmp_path / "advice"
    given = {**SMALL, "costs": "parallel", "stages": 0, "out": out}
    few = nbyt.advise("FrozenLake-v1", **{**given, "trainings": 1})
    cells = {path.name: path.read_bytes() for path in out.glob("cell-*")}
    more = nbyt.advise("FrozenLake-v1", **given)
    assert few.cost.trainings == pytest.approx(1, abs=0.1)
    assert more.cost.trainings == pytest.approx(2, abs=0.1)
    assert all((out / name).read_bytes() == text for name, text in cells.items())


def test_another_question_is_refused(advised) -> None:
    with pytest.raises(StoreError, match="seed: 0 -> 1"):
        nbyt.advise("FrozenLake-v1", out=advised.data["out"], seed=1, **SMALL)


def test_without_trainings_nothing_runs(tmp_path: Path, monkeypatch) -> None:
    def no(*args, **kwargs):
        raise AssertionError("something ran")

    monkeypatch.setattr(advising, "measure_costs", no)
    monkeypatch.setattr(advising, "hold_race", no)
    for objective in ("time", "samples"):
        found = nbyt.advise(
            "CartPole-v1", trainings=0, objective=objective, out=tmp_path / objective
        )
        assert found.cost.samples == 0 and found.record.answer.rests_on == "prior"
        assert found.samples.steps >= 128  # long rollouts are safe for the fewest samples
    assert found.time is None


def test_stages_that_are_given_are_measured_as_they_are(tmp_path: Path) -> None:
    control = frozenlake("mid")
    found = nbyt.advise(
        control.env,
        stages_from=[control.stage],
        out=tmp_path / "given",
        trainings=0,
        batch=2048,
        steps=[1, 128],
        effort="quick",
    )
    (stage,) = found.record.stages
    assert [one.steps for one in stage.layouts] == [1, 128]
    assert found.record.gamma == control.gamma


class _Breaks(gymnasium.Env):
    """A walk on a line that breaks at its n-th step, if a file says so."""

    observation_space = gymnasium.spaces.Box(-9, 9, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)
    plan: Path
    count = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._place = 0.0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        _Breaks.count += 1
        if _Breaks.plan.exists() and _Breaks.count > int(_Breaks.plan.read_text()):
            raise RuntimeError("the cable is gone")
        self._place += 2.0 * action - 1 + 0.1 * self.np_random.normal()
        lost = abs(self._place) > 5
        return np.array([self._place], np.float32), 1.0 - lost, lost, False, {}


def test_an_env_that_breaks_halfway_leaves_what_was_trained(tmp_path: Path) -> None:
    _Breaks.plan, _Breaks.count = tmp_path / "plan.txt", 0
    given = {
        **SMALL,
        "settings": PPOSettings(network="4", gamma=0.9),
        "costs": "parallel",
        "stages": 0,
    }

    def ask():
        return nbyt.advise(lambda: TimeLimit(_Breaks(), 40), out=tmp_path / "advice", **given)

    _Breaks.plan.write_text("4000")
    with pytest.raises(EnvError, match="the cable is gone"):
        ask()
    kept = {path: path.read_bytes() for path in (tmp_path / "advice").glob("cell-*")}
    assert kept
    _Breaks.plan.unlink()
    found = ask()
    assert sum(one.trainings for one in found.layouts) == 8
    assert all(path.read_bytes() == text for path, text in kept.items())
