"""Memory and seconds: plain data, the same bytes twice, and verdicts that follow the data."""

import json
from copy import deepcopy

import pytest

from nbyt_studies.post.claims.costs import EVIDENCE
from nbyt_studies.post.experiments import costs
from nbyt_studies.study import read_claims

CLAIMS = read_claims("nbyt_studies.post", EVIDENCE)

MEMORY, SECONDS = CLAIMS


@pytest.fixture
def data(make_context, monkeypatch):
    monkeypatch.setattr(costs, "ENVS", {"gymnax:CartPole-v1": "8"})
    monkeypatch.setattr(costs, "ROUNDS", {"gymnax:CartPole-v1": (3, 3)})
    first, second = (costs.run(make_context()) for _ in range(2))
    # Seconds are never the same twice; what the compiler says is.
    assert first["rows"][0]["bytes"] == second["rows"][0]["bytes"]
    return json.loads(json.dumps(first, allow_nan=False))


def test_verdicts_follow_the_data(data) -> None:
    for value, word in ((3.0, "holds"), (0.3, "does not hold")):
        other = deepcopy(data)
        for name in ("memory_ratio", "update_ratio", "step_ratio"):
            other["rows"][0][name] = {"value": value, "low": value, "high": value}
        for claim in (MEMORY, SECONDS):
            found = claim.judged({"costs": other})
            assert found["word"] == word
            assert found["figures"]


def test_the_whole_batch_needs_more_room(data) -> None:
    sizes = data["rows"][0]["bytes"]
    assert sizes["full batch"] > sizes["mini-batch"] > 2048 * 4 * 4
    assert data["rows"][0]["step_ratio"]["value"] == pytest.approx(
        32 * data["rows"][0]["update_ratio"]["value"]
    )
