"""Ways to draw: a tiny run, its measures against known truths, verdicts that follow the data."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nbyt.envs import resolve
from nbyt.exact.values import optimal_values
from nbyt.policy.q_policy import weights_of
from nbyt.training.algorithms.dqn import initial_learner
from nbyt.training.dqn import DQNPlan
from nbyt_studies.replay import trainings as common
from nbyt_studies.replay.claims.stability import EVIDENCE, share_of_falls
from nbyt_studies.replay.experiments import trainings
from nbyt_studies.replay.trainings import Moment
from nbyt_studies.study import read_claims

CLAIMS = read_claims("nbyt_studies.replay", EVIDENCE)

LAKE = "tabular:FrozenLake-v1"


@pytest.fixture
def data(context, monkeypatch):
    for module in (common, trainings):
        monkeypatch.setattr(module, "TOTAL", 4000)
    monkeypatch.setattr(trainings, "TASKS", (trainings.Task("FrozenLake-v1", LAKE, 1.0),))
    monkeypatch.setattr(trainings, "STABILITY_SEEDS", (1, 1))
    return json.loads(json.dumps(trainings.run_stability(context), allow_nan=False))


def made_up(place: int) -> list[dict]:
    """Runs of eight seeds; a higher place is worse in every way."""
    return [
        {
            "final_return": 200 - 80 * place + seed * 10.0**place,
            "curve": [20.0 + seed, 100.0, 100.0 - 20 * place, 150.0],
            "levels": [1.0, 2.0],
            "oscillation": 0.1 * (1 + place) + 0.001 * seed,
            "highest": 50.0 if place == 0 else 200.0,
            "errors": [1.0, 0.1 * (1 + place) + 0.001 * seed],
        }
        for seed in range(8)
    ]


def test_verdicts_follow_the_data() -> None:
    for places, word in (((0, 1, 1), "holds"), ((1, 0, 0), "does not hold")):
        names = ("uniform", "sequential", "newest")
        samplings = {name: made_up(place) for name, place in zip(names, places, strict=True)}
        env = {"env": "any", "usual": True, "possible": 100.0, "random_returns": [20.0] * 8}
        data = {"every": 1000, "envs": [{**env, "samplings": samplings}]}
        found = [claim.judged({"stability": data}) for claim in CLAIMS]
        assert [one["word"] for one in found] == [word] * len(CLAIMS)


def test_ways_to_draw_part_after_the_warm_up(data) -> None:
    runs = [runs[0] for runs in data["envs"][0]["samplings"].values()]
    assert len({run["curve"][0] for run in runs}) == 1
    assert len({run["levels"][-1] for run in runs}) == 3
    assert all(claim.judged({"stability": data})["figures"] for claim in CLAIMS)


def test_a_steady_rise_is_no_oscillation() -> None:
    rising = np.linspace(1, 2, 20)[:, None] * np.array([1.0, 3.0])
    assert trainings.oscillation(rising) == pytest.approx(0, abs=1e-12)
    shaken = np.ones((20, 3)) + 0.1 * np.where(np.arange(20) % 2, 1, -1)[:, None]
    # After the first quarter there are 14 changes of .2, half of them up.
    assert trainings.oscillation(shaken) == pytest.approx(0.2 * np.sqrt(14 / 13), rel=0.01)


def test_the_error_of_exact_values_is_nothing() -> None:
    env = resolve(LAKE)
    settings = replace(common.SETTINGS, network="table")
    plan = DQNPlan(env.id, common.LAYOUT, common.TOTAL, 0, settings, ())
    policy, learner = initial_learner(plan, env)
    best = optimal_values(env, settings.gamma).action
    (name,) = weights_of(policy.init(None))
    for offset in (0.0, 0.5):
        weights = {name: np.asarray(best + offset, np.float32)}
        moment = Moment(1, policy, weights, learner.target, None)
        assert trainings.error_of(env, moment) == pytest.approx(offset, abs=1e-6)


def test_share_of_falls() -> None:
    assert share_of_falls([1.0, 2.0, 3.0]) == 0
    assert share_of_falls([3.0, 2.0]) == 1
    assert share_of_falls([0.0, 3.0, 2.0]) == 0.25
    assert share_of_falls([1.0, 1.0]) == 0.5
