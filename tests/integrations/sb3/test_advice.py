"""Advice on a live model: the page of `nbyt advise`, and a model that is left as it was."""

import copy

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from tests.integrations.sb3.tables import table_model

import nbyt
from nbyt.errors import UsageError
from nbyt.exact import garnet, moments
from nbyt.store.advice import read_advice


def test_a_model_is_advised_and_left_as_it_was(tmp_path) -> None:
    model = PPO("MlpPolicy", make_vec_env("CartPole-v1", 4, seed=2), n_steps=32, seed=2)
    model.learn(256)
    before = copy.deepcopy(model.policy.state_dict())
    luck = torch.get_rng_state(), np.random.get_state()[1].copy()
    seen, heard = copy.deepcopy(model._last_obs), []
    out = tmp_path / "advice"
    advice = nbyt.integrations.sb3.advise(
        model,
        batch=128,
        effort="quick",
        steps=[4, 32],
        max_envs=32,
        out=out,
        progress=lambda what, done, total: heard.append(what),
    )
    assert all(torch.equal(before[k], v) for k, v in model.policy.state_dict().items())
    assert torch.equal(luck[0], torch.get_rng_state())
    assert (luck[1] == np.random.get_state()[1]).all()
    assert np.array_equal(seen, model._last_obs) and model.num_timesteps == 256
    data = read_advice(out)
    assert (advice.per_sample["envs"], advice.per_sample["steps"]) in {(32, 4), (4, 32)}
    assert advice.per_second is not None and data["costs"]["timed"]
    assert [(one["envs"], one["steps"]) for one in data["stages"][0]["layouts"]] == [
        (32, 4),
        (4, 32),
    ]
    assert data["stages"][0]["updates"] == 2 and data["current"] is not None
    assert data["reproduce"].startswith("nbyt.integrations.sb3.advise(model, batch=128")
    assert "stable-baselines3" in data["versions"]
    assert "CartPole-v1" in advice.report.read_text()
    assert "costs" in heard and any("chains" in what for what in heard)
    # What was measured is not measured again, and other weights are another question.
    again = nbyt.integrations.sb3.advise(
        model, batch=128, effort="quick", steps=[4, 32], max_envs=32, out=out
    )
    assert again.data["stages"] == advice.data["stages"]
    model.learn(128, reset_num_timesteps=False)
    with pytest.raises(nbyt.NbytError, match="other"):
        nbyt.integrations.sb3.advise(
            model, batch=128, effort="quick", steps=[4, 32], max_envs=32, out=out
        )


def test_alignments_are_the_oracle_s(tmp_path) -> None:
    control = garnet(6, 2, 0)
    model = table_model(control, envs=16, steps=8)
    advice = nbyt.integrations.sb3.advise(
        model, batch=128, effort="quick", per="sample", steps=[2, 32], out=tmp_path / "a"
    )
    assert advice.per_second is None
    truths = {}
    for layout in advice.data["stages"][0]["layouts"]:
        steps, envs = layout["steps"], layout["envs"]
        given = {"steps": steps, "gamma": control.gamma, "lam": control.lam}
        exact = moments(control.env, control.stage, **given).actor
        mean, goal = np.asarray(exact.mean).ravel(), np.asarray(exact.reference).ravel()
        noise = mean @ mean / (mean @ mean + float(exact.variance) / envs)
        cosine = mean @ goal / np.linalg.norm(mean) / np.linalg.norm(goal)
        truths[steps] = cosine * abs(cosine) * noise
        found = layout["actor"]["alignment"]
        assert found["low"] - 0.01 <= truths[steps] <= found["high"] + 0.01
    best = max(truths, key=truths.get)
    ties = [steps for _, steps in advice.per_sample["ties"]]
    assert best in (advice.per_sample["steps"], *ties)


def test_no_file_of_a_user_is_ever_loaded(tmp_path) -> None:
    path = tmp_path / "model.zip"
    path.write_bytes(b"PK")
    for given in (path, str(path)):
        with pytest.raises(UsageError, match="pickle"):
            nbyt.integrations.sb3.advise(given, batch=128)
