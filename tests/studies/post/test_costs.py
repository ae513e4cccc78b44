"""Memory and seconds: plain data, the same bytes twice, and verdicts that follow the data."""

import json

import pytest

from nbyt_studies.post.claims.costs import EVIDENCE
from nbyt_studies.post.experiments import costs
from nbyt_studies.study import read_claims

(CLAIM,) = read_claims("nbyt_studies.post", EVIDENCE)


@pytest.fixture
def data(make_context, monkeypatch):
    monkeypatch.setattr(costs, "ENVS", {"gymnax:CartPole-v1": "8"})
    monkeypatch.setattr(costs, "ROUNDS", {"gymnax:CartPole-v1": (3, 3)})
    first, second = (costs.run(make_context()) for _ in range(2))
    # Seconds are never the same twice; what the compiler says is.
    assert first["rows"][0]["bytes"] == second["rows"][0]["bytes"]
    return json.loads(json.dumps(first, allow_nan=False))


def test_the_whole_batch_needs_more_room(data) -> None:
    sizes = data["rows"][0]["bytes"]
    assert sizes["full batch"] > sizes["mini-batch"] > 2048 * 4 * 4
    found = CLAIM.judged({"costs": data})
    assert found["parts"][0]["word"] == "does not hold"
    assert found["figures"]
