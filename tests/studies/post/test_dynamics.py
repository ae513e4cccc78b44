"""What the start decides: a tiny run twice, and verdicts that follow the data."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest

from nbyt import exact
from nbyt.layout import Layout
from nbyt_studies.post.claims.delay import CLAIMS
from nbyt_studies.post.experiments import delay, visits

APART, SHARE = CLAIMS[1:3]


@pytest.fixture
def data(make_context, monkeypatch):
    small = replace(visits.RUNS[1], layout=Layout(4, 8, 16, 1), at=((1,), (1,)))
    monkeypatch.setattr(delay, "RUNS", (visits.RUNS[0], small))
    monkeypatch.setattr(delay, "STARTS", (16, 16))
    monkeypatch.setattr(delay, "AGAIN", 2)
    monkeypatch.setattr(delay, "DYNAMICS_LENGTHS", (4, 8))
    monkeypatch.setattr(delay, "DYNAMICS_POLICIES", ("mid",))
    first, second = (delay.run_dynamics(make_context()) for _ in range(2))
    assert first == second
    return json.loads(json.dumps(first, allow_nan=False))


def test_verdicts_follow_the_data(data) -> None:
    control = exact.frozenlake("mid")
    parts = exact.sources(control.env, control.stage, steps=4, gamma=0.99, lam=0.95, centre=True)
    truth = parts.actor.start / parts.actor.variance
    assert data["shares"][0]["share"]["value"] == pytest.approx(truth)
    for value, word in ((100.0, "holds"), (0.001, "does not hold")):
        other = deepcopy(data)
        number = {"value": value, "low": value, "high": value}
        for row in other["separation"]:
            row["growth"][-1] = number
        for row in other["shares"]:
            row["share"] = number
        for claim in (APART, SHARE):
            found = claim.judged({"dynamics": other})
            assert found["word"] == word, claim.id
            assert found["figures"]
