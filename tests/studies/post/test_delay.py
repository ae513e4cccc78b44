"""Delayed rewards, the start of a rollout, and the probability of a trajectory."""

import json
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from nbyt import exact
from nbyt.envs import tabular
from nbyt.layout import Layout
from nbyt_studies.post.claims.delay import EVIDENCE
from nbyt_studies.post.experiments import delay, visits
from nbyt_studies.study import read_claims

CLAIMS = read_claims("nbyt_studies.post", EVIDENCE)

BY_ID = {claim.id: claim for claim in CLAIMS}


def test_the_slippery_sparse_lake_is_gymnasiums() -> None:
    own, other = delay.lake(slippery=True, shaped=False), tabular.find("FrozenLake8x8-v1")
    for of in (lambda made: 1, lambda made: made.reward, lambda made: made.terminated):
        mine, theirs = (
            env.outcomes.by_state(env.outcomes.probability * of(env.outcomes))
            for env in (own, other)
        )
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    np.testing.assert_array_equal(own.start, other.start)


@pytest.mark.parametrize("slippery", [True, False])
def test_both_rewards_add_up_to_one_on_the_way_to_the_goal(slippery) -> None:
    sparse, shaped = (delay.lake(slippery=slippery, shaped=x) for x in (False, True))
    path = [0]  # right along the first row, then down the last column
    path += [*range(1, 8), *range(15, 64, 8)]
    actions = [2] * 7 + [1] * 7
    for env in (sparse, shaped):
        gains = [gain(env, *step) for step in zip(path, actions, path[1:], strict=False)]
        assert sum(gains) == pytest.approx(1)
    assert shaped.outcomes.reward.max() == pytest.approx(1 / 14)


def gain(env: tabular.TabularEnv, state: int, action: int, after: int) -> float:
    """The reward of a step that leads to `after`."""
    possible = env.outcomes.probability[state, action] > 0
    there = possible & (env.outcomes.state[state, action] == after)
    (reward,) = env.outcomes.reward[state, action][there]
    return reward


def test_the_numbers_are_the_oracles() -> None:
    env = delay.lake(slippery=True, shaped=False)
    uniform = delay.stage_of(env, delay.logits(True, "uniform"), 0.0)
    found = delay._measured(env, uniform, 4)
    assert found["bias"] == pytest.approx(0.780, abs=5e-4)  # the table of reference values
    sources = exact.sources(env, uniform, steps=4, gamma=0.99, lam=0.95).actor
    assert found["credit_share"] == sources.credit / sources.variance


@pytest.fixture
def data(make_context, monkeypatch):
    monkeypatch.setattr(delay, "POLICIES", ("uniform",))
    monkeypatch.setattr(delay, "LENGTHS", ((2, 4), (2, 4)))
    found = delay.run(make_context())
    assert found == delay.run(make_context())
    return json.loads(json.dumps(found, allow_nan=False))


def test_verdicts_follow_the_data(data) -> None:
    changed = {
        "delay-bias": ("rewards", "sparse", "bias"),
        "slip-bias": ("ground", "slippery", "bias"),
        "delay-credit": ("rewards", "sparse", "credit"),
        "slip-credit": ("ground", "slippery", "credit"),
    }
    for id, (what, value, name) in changed.items():
        for factor, word in ((1e6, "holds"), (1e-6, "does not hold")):
            other = deepcopy(data)
            for row in other["rows"]:
                if row[what] == value:
                    row[name] *= factor
                    row["credit_share"] *= factor if name == "credit" else 1
            found = BY_ID[id].judged({"delay": other})
            assert found["word"] == word, id
            assert found["figures"]


def test_equal_is_not_more(data) -> None:
    """Under a uniform policy slipping changes no law at all."""
    found = BY_ID["slip-bias"].judged({"delay": data})
    assert found["word"] == "does not hold"
    assert all(abs(check["number"]["value"] - 1) < 1e-9 for check in found["checks"])


APART, SHARE = CLAIMS[1:3]


@pytest.fixture
def data_of_dynamics(make_context, monkeypatch):
    small = replace(visits.RUNS[1], layout=Layout(4, 8, 16, 1), at=((1,), (1,)))
    monkeypatch.setattr(delay, "RUNS", (visits.RUNS[0], small))
    monkeypatch.setattr(delay, "STARTS", (16, 16))
    monkeypatch.setattr(delay, "AGAIN", 2)
    monkeypatch.setattr(delay, "DYNAMICS_LENGTHS", (4, 8))
    monkeypatch.setattr(delay, "DYNAMICS_POLICIES", ("mid",))
    first, second = (delay.run_dynamics(make_context()) for _ in range(2))
    assert first == second
    return json.loads(json.dumps(first, allow_nan=False))


def test_verdicts_follow_the_data_for_dynamics(data_of_dynamics) -> None:
    control = exact.frozenlake("mid")
    parts = exact.sources(control.env, control.stage, steps=4, gamma=0.99, lam=0.95, centre=True)
    truth = parts.actor.start / parts.actor.variance
    assert data_of_dynamics["shares"][0]["share"]["value"] == pytest.approx(truth)
    for value, word in ((100.0, "holds"), (0.001, "does not hold")):
        other = deepcopy(data_of_dynamics)
        number = {"value": value, "low": value, "high": value}
        for row in other["separation"]:
            row["growth"][-1] = number
        for row in other["shares"]:
            row["share"] = number
        for claim in (APART, SHARE):
            found = claim.judged({"dynamics": other})
            assert found["word"] == word, claim.id
            assert found["figures"]


@pytest.fixture
def data_of_probability(make_context, monkeypatch):
    monkeypatch.setattr(delay, "PROBABILITY_LENGTHS", (1, 3))
    found = delay.run_probability(make_context())
    assert found == delay.run_probability(make_context())
    return json.loads(json.dumps(found, allow_nan=False))


def test_the_verdict_follows_the_sums(data_of_probability) -> None:
    claim = CLAIMS[0]
    assert claim.judged({"probability": data_of_probability})["word"] == "holds"
    other = deepcopy(data_of_probability)
    for row in other["sums"]:
        row["sum"] *= 1.001
    assert claim.judged({"probability": other})["word"] == "does not hold"


def test_sampled_trajectories_are_possible_and_improbable(data_of_probability) -> None:
    assert all(value <= 0 for value in data_of_probability["log10"])
    assert len(data_of_probability["log10"]) == 200
    assert data_of_probability["sums"][0] == {
        "env": "sticky",
        "steps": 1,
        "count": 8,
        "sum": pytest.approx(1),
    }
