"""Four lakes: their tables, their exact numbers, and the verdicts made from them."""

import json
from copy import deepcopy

import numpy as np
import pytest

from nbyt import exact
from nbyt.envs import tabular
from nbyt_studies.post.claims.delay import CLAIMS
from nbyt_studies.post.experiments import delay

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
