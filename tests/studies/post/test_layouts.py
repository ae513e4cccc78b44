"""Layouts, controls, critics and sources: what is measured, and verdicts that follow from it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.studies import worlds

from nbyt_studies.experiment import Context
from nbyt_studies.post.claims import critics as critic_claims
from nbyt_studies.post.claims import layouts as layout_claims
from nbyt_studies.post.experiments import critics, layouts
from nbyt_studies.study import read_claims

EVIDENCE = {**layout_claims.EVIDENCE, **critic_claims.EVIDENCE}
CLAIMS = {claim.id: claim for claim in read_claims("nbyt_studies.post", EVIDENCE)}


def small(task: layouts.Task) -> layouts.Task:
    """The same task, hardly trained."""
    return replace(task, stages={"middle": 1, "late": 2})


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sizes for every experiment."""
    lake, pole = small(layouts.FROZENLAKE), small(layouts.CARTPOLE)
    monkeypatch.setattr(layouts, "STEPS", (2, 128, 1024))
    monkeypatch.setattr(layouts, "_TASKS", (pole,))
    monkeypatch.setattr(layouts, "_TRAININGS", (3, 3))
    monkeypatch.setattr(layouts, "_CHAINS", (16, 16))
    monkeypatch.setattr(critics, "FROZENLAKE", lake)
    monkeypatch.setattr(critics, "_TASKS", (pole,))
    monkeypatch.setattr(critics, "_CHAINS", (8, 8))
    monkeypatch.setattr(critics, "_STEPS", (2, 16))
    monkeypatch.setattr(critics, "_EXACT_STEPS", (2, 8))
    monkeypatch.setattr(critics, "_SOURCES_EXACT_STEPS", (4, 8))
    monkeypatch.setattr(critics, "_CLONED_STEPS", (2, 8))
    monkeypatch.setattr(critics, "_CLONED_COST", 40_000)
    monkeypatch.setattr(critics, "_QUALITY_STAGES", ("middle",))
    monkeypatch.setattr(critics, "_QUALITY_STARTS", (32, 32))


@pytest.fixture(scope="module")
def results(make_context: Callable[[], Context]) -> dict[str, Any]:
    """What the experiments find in their small size, as it is read back."""
    experiments = (*layouts.EXPERIMENTS, *critics.EXPERIMENTS)
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_small(monkeypatch)
        context = make_context()
        found = {one.name: one.run(context) for one in experiments}
    return json.loads(json.dumps(found, allow_nan=False))


def test_experiments_give_claims_their_data(results: dict[str, Any]) -> None:
    for claim in CLAIMS.values():
        if claim.id == "long-rollouts-credit":
            continue  # compares lengths that the small size does not have
        data = claim.judged(results)
        assert data["checks"], claim.id
        json.dumps(data, allow_nan=False)
    for identity in ("two-terms", "bias-is-the-critics"):
        found = CLAIMS[identity].judged(results)
        assert found["word"] == "identity" and found["counts"]["yes"] == len(found["checks"])


def test_numbers_vary_over_trainings(results: dict[str, Any]) -> None:
    (stage,) = results["layouts"]["stages"]
    for form, gradient in (("raw", "actor"), ("raw", "critic"), ("normalised", "actor")):
        rows = [one[form][gradient]["layouts"] for one in stage["trainings"]]
        assert len({own[0]["variance"] for own in rows}) == 3
        for own in rows:
            assert [one["envs"] * one["steps"] for one in own] == [2048] * 3
            share = own[-1]["covariance_share"]
            individual = own[-1]["individual"] / own[-1]["variance"]
            assert share + individual == pytest.approx(1, abs=1e-3)


def test_the_longest_rollout_credits_best_only_where_it_is_measured() -> None:
    data = worlds.credit(luck=1.0, helps=True)
    found = CLAIMS["long-rollouts-credit"].judged(data)
    assert found["word"] == "holds"
    for row in data["advantages"]["rows"]:
        for one in row["rows"]:
            one["truth"] = 0.0
    again = CLAIMS["long-rollouts-credit"].judged(data)
    assert again["word"] == "depends" and "cannot be told: corr²" in again["verdict"]
