"""nbyt.advise from end to end, on small problems with real training and real measurements."""

import json
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

import nbyt
from nbyt.advice import request, stages
from nbyt.advice import run as advising
from nbyt.errors import EnvError, StoreError
from nbyt.exact import frozenlake
from nbyt.results import plain
from nbyt.store.files import ADVICE
from nbyt.store.run import Folder
from nbyt.train.plan import PPOSettings

SMALL = {
    "batch": 64,
    "steps": [4, 16],
    "effort": "quick",
    "stages": 2,
    "total": 512,
    "settings": PPOSettings(network="table"),
}


@pytest.fixture(scope="module")
def advised(tmp_path_factory: pytest.TempPathFactory) -> advising.Advice:
    """An advice on FrozenLake, its stages trained for it."""
    out = tmp_path_factory.mktemp("runs") / "advice"
    return nbyt.advise("FrozenLake-v1", out=out, current=(16, 4), **SMALL)


def test_the_data_keep_their_promise(advised) -> None:
    data = advised.as_dict()
    assert len(data["stages"]) == 2 and all(1 <= one["updates"] <= 8 for one in data["stages"])
    assert sum(one["weight"] for one in data["stages"]) == pytest.approx(1)
    for stage in data["stages"]:
        assert [(one["envs"], one["steps"]) for one in stage["layouts"]] == [(16, 4), (4, 16)]
        assert all(one["seconds"]["value"] > 0 for one in stage["layouts"])
        assert set(stage["mean_return"]) >= {"value", "low", "high"}
    for kind in ("per_sample", "per_second"):
        one = data["advice"][kind]
        assert {"envs", "steps", "alignment", "win_share", "ties", "reasons"} <= set(one)
        assert one["envs"] * one["steps"] == 64 and len(one["ranking"]) == 2
    assert data["current"]["per_sample"]["sentence"]
    json.dumps(data, allow_nan=False)


def test_everything_is_kept_and_the_page_is_there(advised) -> None:
    folder = Path(advised.data["out"])
    assert plain(Folder(folder).require(ADVICE)) == json.loads(json.dumps(advised.data))
    assert advised.report == folder / "report.html" and advised.report.stat().st_size > 10_000
    best = advised.per_sample
    card = advised._repr_html_()
    assert str(best["envs"]) in card and str(best["steps"]) in card and "<script" not in card


def test_the_same_question_is_answered_from_the_folder(advised, monkeypatch) -> None:
    def no(*args, **kwargs):
        raise AssertionError("measured again")

    for module, name in ((stages, "examine"), (stages, "train")):
        monkeypatch.setattr(module, name, no)
    monkeypatch.setattr(advising, "measure_costs", no)
    out = advised.data["out"]
    again = nbyt.advise("FrozenLake-v1", out=out, current=(16, 4), **SMALL)
    assert again.data == advised.data
    # Another objective, and other weights, are ranked anew from what was measured.
    other = nbyt.advise("FrozenLake-v1", out=out, objective="critic", weigh="samples", **SMALL)
    assert other.data["objective"] == "critic"


def test_a_stopped_advice_takes_as_many_chains_of_every_stage_as_it_had_decided(
    tmp_path: Path, monkeypatch
) -> None:
    """A mixture of few and many chains is not what an undisturbed run decides by."""
    few = replace(request.EFFORTS["quick"], chains=16, more=2)
    monkeypatch.setitem(request.EFFORTS, "quick", few)
    # Open with few chains; settled as soon as any stage has more.
    monkeypatch.setattr(
        advising,
        "_wants_more",
        lambda finding: all(one.record.pool.chains == 16 for one in finding.measured),
    )
    asked = {**SMALL, "per": "sample"}
    whole = nbyt.advise("FrozenLake-v1", out=tmp_path / "whole", **asked)
    real, calls = stages.examine, iter(range(100))

    def stopped(*args, **kwargs):
        if next(calls) == 3:  # both stages are measured, and the first again
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(stages, "examine", stopped)
    with pytest.raises(KeyboardInterrupt):
        nbyt.advise("FrozenLake-v1", out=tmp_path / "stopped", **asked)
    resumed = nbyt.advise("FrozenLake-v1", out=tmp_path / "stopped", **asked)
    assert [one["pool"]["chains"] for one in resumed.data["stages"]] == [32, 32]
    assert resumed.data["advice"] == whole.data["advice"]


def test_an_advice_prints_its_answer_and_its_cost(advised) -> None:
    lines = str(advised).split("\n")
    assert [line.partition(":")[0] for line in lines] == ["per sample", "per second", "cost"]
    best = advised.per_sample
    assert f"per_sample={best['envs']}x{best['steps']}" in repr(advised)
    assert len(repr(advised)) < 100


def test_another_question_is_refused(advised) -> None:
    with pytest.raises(StoreError, match="seed: 0 -> 1"):
        nbyt.advise("FrozenLake-v1", out=advised.data["out"], seed=1, **SMALL)


def test_measuring_again_gives_the_same_numbers(advised, tmp_path: Path) -> None:
    again = nbyt.advise("FrozenLake-v1", out=tmp_path / "again", current=(16, 4), **SMALL)
    assert again.per_sample == advised.per_sample
    for one, other in zip(again.data["stages"], advised.data["stages"], strict=True):
        assert one["ranking"] == other["ranking"]


def test_stages_that_are_given_are_measured_as_they_are(tmp_path: Path) -> None:
    control = frozenlake("mid")
    found = nbyt.advise(
        control.env,
        stages_from=[control.stage],
        out=tmp_path / "given",
        per="sample",
        batch=2048,
        steps=[1, 128],
        effort="quick",
    )
    assert (found.per_sample["envs"], found.per_sample["steps"]) == (2048, 1)
    assert found.per_second is None and found.data["costs"] is None
    assert found.per_sample["win_share"] > 0.9 and not found.per_sample["ties"]


def test_the_command_names_the_stages_that_were_given(advised, tmp_path: Path) -> None:
    run = next(Path(advised.data["out"]).glob("training-*"))
    given = {**SMALL, "stages_from": [run / "stage-1"], "per": "sample", "weigh": "samples"}
    found = nbyt.advise("FrozenLake-v1", out=tmp_path / "from", **given)
    said = found.data["reproduce"]
    assert said.endswith(f"--per sample --weigh samples --from {run / 'stage-1'}")
    assert found.data["stages"][0]["updates"] == 1


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


def test_an_env_that_breaks_halfway_leaves_what_was_measured(tmp_path: Path) -> None:
    _Breaks.plan, _Breaks.count = tmp_path / "plan.txt", 0
    given = {**SMALL, "settings": PPOSettings(network="4", gamma=0.9), "per": "sample"}

    def ask():
        return nbyt.advise(lambda: TimeLimit(_Breaks(), 40), out=tmp_path / "advice", **given)

    first_stage = 64 * (1024 + 44)  # the pool of the first stage alone takes more than this
    _Breaks.plan.write_text(str(512 + 2 * first_stage))
    with pytest.raises(EnvError, match="the cable is gone"):
        ask()
    kept = (tmp_path / "advice" / "measured-1" / "measurement.json").read_bytes()
    assert not (tmp_path / "advice" / "measured-2").exists()
    _Breaks.plan.unlink()
    found = ask()
    assert len(found.data["stages"]) == 2
    assert (tmp_path / "advice" / "measured-1" / "measurement.json").read_bytes() == kept
