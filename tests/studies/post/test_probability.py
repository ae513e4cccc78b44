"""P(tau | pi) in the study: the sums, the sampled ones, the verdict."""

import json
from copy import deepcopy

import pytest

from nbyt_studies.post.claims.delay import CLAIMS
from nbyt_studies.post.experiments import costs


@pytest.fixture
def data(make_context, monkeypatch):
    monkeypatch.setattr(costs, "LENGTHS", (1, 3))
    found = costs.run_probability(make_context())
    assert found == costs.run_probability(make_context())
    return json.loads(json.dumps(found, allow_nan=False))


def test_the_verdict_follows_the_sums(data) -> None:
    claim = CLAIMS[0]
    assert claim.judged({"probability": data})["word"] == "holds"
    other = deepcopy(data)
    for row in other["sums"]:
        row["sum"] *= 1.001
    assert claim.judged({"probability": other})["word"] == "does not hold"


def test_sampled_trajectories_are_possible_and_improbable(data) -> None:
    assert all(value <= 0 for value in data["log10"])
    assert len(data["log10"]) == 200
    assert data["sums"][0] == {"env": "sticky", "steps": 1, "count": 8, "sum": pytest.approx(1)}
