"""Advice on a live model: true, on the page of `nbyt advise`, and the model is left as it was."""

import copy

import numpy as np
import pytest
import torch
from tests.integrations.sb3.tables import table_model

import nbyt
from nbyt.advice.request import make_advice_request
from nbyt.envs import resolve
from nbyt.errors import UsageError
from nbyt.exact import garnet, moments
from nbyt.integrations.rules import Recommendation
from nbyt.integrations.sb3 import advise
from nbyt.integrations.sb3.advice import _still_open, _within
from nbyt.results import plain
from nbyt.stats.estimate import Estimate
from nbyt.store.files import ADVICE
from nbyt.store.run import Folder
from nbyt.training.costs import Costs

CONTROL = garnet(6, 2, 0)
ASKED = {"batch": 128, "trainings": 1, "total": 1280, "steps": [2, 32], "max_envs": 64}


def alignment(steps: int, envs: int) -> float:
    """The exact alignment of a layout."""
    given = {"steps": steps, "gamma": CONTROL.gamma, "lam": CONTROL.lam}
    exact = moments(CONTROL.env, CONTROL.stage, **given).actor
    mean, goal = np.asarray(exact.mean).ravel(), np.asarray(exact.reference).ravel()
    noise = mean @ mean / (mean @ mean + float(exact.variance) / envs)
    cosine = mean @ goal / np.linalg.norm(mean) / np.linalg.norm(goal)
    return cosine * abs(cosine) * noise


def test_a_model_is_advised_truly_and_left_as_it_was(tmp_path) -> None:
    model = table_model(CONTROL, envs=4, steps=32)
    model.learn(256)
    weights = copy.deepcopy(model.policy.state_dict())
    luck = torch.get_rng_state(), np.random.get_state()[1].copy()
    seen, heard, out = copy.deepcopy(model._last_obs), [], tmp_path / "advice"
    advice = advise(model, out=out, progress=lambda what, *_: heard.append(what), **ASKED)
    # Nothing about the model changed.
    assert all(torch.equal(weights[k], v) for k, v in model.policy.state_dict().items())
    assert torch.equal(luck[0], torch.get_rng_state())
    assert (luck[1] == np.random.get_state()[1]).all()
    assert np.array_equal(seen, model._last_obs) and model.num_timesteps == 256
    # What explains the answer is true.
    layouts = advice.data["stages"][0]["layouts"]
    truths = {one["steps"]: alignment(one["steps"], one["envs"]) for one in layouts}
    assert list(truths) == [2, 32]
    for layout in layouts:
        found = layout["actor"]["alignment"]
        assert found["low"] - 0.01 <= truths[layout["steps"]] <= found["high"] + 0.01
    # The answer rests on trainings of models like this one, and its page says so.
    assert sum(one.trainings for one in advice.layouts) == 4
    assert advice.cost.trainings == pytest.approx(1, abs=0.2)
    data = plain(Folder(out).require(ADVICE))
    assert advice.time is not None and data["costs"]["timed"]
    assert data["stages"][0]["updates"] == 2 and data["current"] is not None
    assert data["reproduce"].startswith("nbyt.integrations.sb3.advise(model, batch=128")
    assert "stable-baselines3" in data["versions"]
    assert "TableEnv" in advice.report.read_text()
    assert "costs" in heard and any("quarter trainings" in what for what in heard)
    # What was measured and trained is not done again, and other weights are another question.
    heard.clear()
    again = advise(model, out=out, progress=lambda what, *_: heard.append(what), **ASKED)
    assert again.data["stages"] == advice.data["stages"]
    assert again.data["race"] == advice.data["race"]
    assert not any("chains" in what or "costs" in what for what in heard)
    with torch.no_grad():
        model.policy.action_net.weight += 1
    with pytest.raises(nbyt.NbytError, match="other"):
        advise(model, out=out, **ASKED)


def test_no_file_of_a_user_is_ever_loaded(tmp_path) -> None:
    path = tmp_path / "model.zip"
    path.write_bytes(b"PK")
    for given in (path, str(path)):
        with pytest.raises(UsageError, match="pickle"):
            advise(given, batch=128)


def fake_finding(rule: str) -> Recommendation:
    return Recommendation(rule, "seen", "do", Estimate(0.1, 0.05, 0.2, 8), "critic")


def test_what_the_training_has_closed_is_not_raced_and_is_said() -> None:
    request = make_advice_request(resolve("CartPole-v1"), batch=256, current=64)
    narrowed, remarks = _still_open(request, [fake_finding("few_envs")])
    assert narrowed.steps == tuple(one for one in request.steps if one <= 64)
    assert "T above 64 was not raced" in remarks[-1] and "seen: do." in remarks[0]
    whole, remarks = _still_open(request, [fake_finding("ragged")])
    assert whole == request and len(remarks) == 1
    assert _still_open(request, []) == (request, [])


@pytest.mark.parametrize(("seconds", "expected"), [(1e6, 4.0), (150.0, 3.0), (1.0, 1.0)])
def test_a_race_fits_into_the_seconds_that_it_may_take(seconds: float, expected: float) -> None:
    """An update takes half a second with every T, and a training 100 of them."""
    request = make_advice_request(resolve("CartPole-v1"), batch=256, total=25_600, trainings=4)
    costs = Costs({layout: [0.5, 0.5, 0.5] for layout in request.layouts[:4]})
    assert _within(request, costs, seconds).trainings == pytest.approx(expected, abs=0.26)
