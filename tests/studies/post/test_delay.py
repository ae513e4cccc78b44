"""Delayed rewards, the start of a rollout, and the probability of a trajectory."""

import json
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from nbyt import exact
from nbyt.collect.pool import Pool
from nbyt.envs import tabular
from nbyt.exact.values import policy_values
from nbyt.layout import Layout
from nbyt.policy.actor_critic import table
from nbyt_studies.measure.batches import collect_batches
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
    uniform = table(delay.logits(True, "uniform"), np.zeros(64))
    found = delay._measured(env, uniform, 4)
    assert found["bias"] == pytest.approx(0.780, abs=5e-4)  # the table of reference values
    sources = exact.sources(env, uniform, steps=4, gamma=0.99, lam=0.95).actor
    assert found["credit_share"] == sources.credit / sources.variance


def test_a_fitted_critic_is_right_where_everything_was_seen() -> None:
    env = delay.lake(slippery=True, shaped=True)
    chosen = delay.logits(True, "uniform")
    stage = table(chosen, np.zeros(64))
    (pool,) = collect_batches(env, stage, [(400, 400)], batches=1, seed=0)
    values = policy_values(env, np.full((64, 4), 0.25), delay.GAMMA).state
    seen = np.bincount(pool.observation.ravel(), minlength=64) > 2000
    assert seen.sum() > 15
    np.testing.assert_allclose(delay.fitted(env, pool)[seen], values[seen], atol=0.03)
    first = Pool(*(array[:8, :1] for array in pool))
    unseen = ~np.isin(np.arange(64), first.observation)
    assert np.all(delay.fitted(env, first)[unseen] == 0)


def test_lakes_give_every_claim_its_checks(make_context, monkeypatch) -> None:
    monkeypatch.setattr(delay, "POLICIES", ("softmax",))
    monkeypatch.setattr(delay, "LENGTHS", ((2,), (2,)))
    found = delay.run(make_context())
    assert found == delay.run(make_context()) == json.loads(json.dumps(found, allow_nan=False))
    for id in ("delay-bias", "slip-bias", "delay-credit"):
        judged = BY_ID[id].judged({"delay": found})
        assert judged["checks"] and all(one["number"]["value"] for one in judged["checks"])


def test_nearby_starts_of_every_training(make_context, monkeypatch) -> None:
    small = replace(visits.RUNS[1], layout=Layout(4, 8, 16, 1), at=((1,), (1,)))
    monkeypatch.setattr(delay, "RUNS", (visits.RUNS[0], small))
    monkeypatch.setattr(delay, "SEEDS", (3, 3))
    monkeypatch.setattr(delay, "STARTS", (16, 16))
    monkeypatch.setattr(delay, "LONGEST", 8)
    data = delay.run_dynamics(make_context())
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert [row["seed"] for row in data["separation"]] == [0, 0, 1, 1, 2, 2]
    found = BY_ID["sensitive-dynamics"].judged({"dynamics": data})
    assert len(found["checks"]) == 2 and found["figures"]


@pytest.fixture
def data_of_probability(make_context, monkeypatch):
    monkeypatch.setattr(delay, "PROBABILITY_LENGTHS", (1, 3))
    found = delay.run_probability(make_context())
    assert found == delay.run_probability(make_context())
    return json.loads(json.dumps(found, allow_nan=False))


def test_the_verdict_follows_the_sums(data_of_probability) -> None:
    claim = BY_ID["trajectory-probability"]
    assert claim.judged({"probability": data_of_probability})["verdict"] == "identity"
    other = deepcopy(data_of_probability)
    for row in other["sums"]:
        row["sum"] *= 1.001
    assert "violated in 6 of 6" in claim.judged({"probability": other})["verdict"]


def test_sampled_trajectories_are_possible_and_improbable(data_of_probability) -> None:
    assert all(value <= 0 for value in data_of_probability["log10"])
    assert len(data_of_probability["log10"]) == 200
    assert data_of_probability["sums"][0] == {
        "env": "sticky",
        "steps": 1,
        "count": 8,
        "sum": pytest.approx(1),
    }
