"""Layouts, controls, critics and sources: what is measured, and verdicts that follow from it."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from nbyt.measure import sources
from nbyt_studies.experiment import Context
from nbyt_studies.post.claims import critics as critic_claims
from nbyt_studies.post.claims import layouts as layout_claims
from nbyt_studies.post.experiments import critics, layouts
from nbyt_studies.study import Claim, read_claims

EVIDENCE = {**layout_claims.EVIDENCE, **critic_claims.EVIDENCE}
CLAIMS = {claim.id: claim for claim in read_claims("nbyt_studies.post", EVIDENCE)}
SURE = {"value": 0.0, "low": -0.001, "high": 0.001}


def small(task: layouts.Task) -> layouts.Task:
    """The same task, hardly trained."""
    return replace(task, stages={"middle": 1, "late": 2})


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sizes for every experiment."""
    lake, pole = small(layouts.FROZENLAKE), small(layouts.CARTPOLE)
    monkeypatch.setattr(layouts, "_FEW_STEPS", (2, 16))
    monkeypatch.setattr(layouts, "_SUBJECTS", ((lake, (2, 1024), 32),))
    monkeypatch.setattr(critics, "FROZENLAKE", lake)
    monkeypatch.setattr(critics, "_TASKS", (pole,))
    monkeypatch.setattr(sources, "_STEPS", 20_000)
    monkeypatch.setattr(layouts, "_CHAINS", 16)
    monkeypatch.setattr(critics, "_CHAINS", (8, 8))
    monkeypatch.setattr(critics, "LAMBDAS", (0.95, 1.0))
    monkeypatch.setattr(critics, "_STEPS", (2, 8, 16))
    monkeypatch.setattr(critics, "_EXACT_STEPS", (2, 8))
    monkeypatch.setattr(critics, "_SOURCES_EXACT_STEPS", (4, 8, 16))
    monkeypatch.setattr(critics, "_CLONED_STEPS", (2, 4, 8))


@pytest.fixture
def results(context: Context, few: None) -> dict[str, Any]:
    """What the experiments find in their small size, as it is read back."""
    experiments = (*layouts.EXPERIMENTS, *critics.EXPERIMENTS)
    found = {one.name: one.run(context) for one in experiments}
    return json.loads(json.dumps(found, allow_nan=False))


def set_everywhere(data: Any, keys: tuple[str, ...], number: dict[str, float]) -> Any:
    """The data with every number under one of the keys replaced."""
    if isinstance(data, list):
        return [set_everywhere(one, keys, number) for one in data]
    if not isinstance(data, dict):
        return data
    if set(data) >= {"value", "low", "high"}:
        return data
    return {
        key: number if key in keys and is_number(one) else set_everywhere(one, keys, number)
        for key, one in data.items()
    }


def is_number(data: Any) -> bool:
    return isinstance(data, dict) and set(data) >= {"value", "low", "high"}


def around(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.001, "high": value + 0.001}


# For each claim: where its numbers are, one that makes it hold, one that makes it fail.
TURNS = {
    "layout-matters": (("variance", "along"), 0.5, 1.0),
    "scatter-around-truth": (("cosine",), 0.99, 0.1),
    "individual-by-size": (("individual",), 1.0, 0.3),
    "covariance-grows": (("covariance_gap",), 2.0, -2.0),
    "covariance-dominates": (("long_covariance_share",), 0.9, 0.1),
    "envs-lower-variance": (("variance",), 0.5, 2.0),
    "better-critic-less-bias": (("worst_less_best",), 0.5, -0.5),
    "bias-is-the-critics": (("relative_bias",), 0.0, 0.5),
    "long-rollouts-credit": (("credit",), 0.5, 2.0),
    "envs-reduce-sampling": (("sampling",), 2.0, 0.5),
    "envs-reduce-trajectory-noise": (("luck",), 2.0, 0.5),
    "lambda-cuts-credit": (("credit",), 0.5, 2.0),
}


def test_experiments_give_claims_their_data(results: dict[str, Any]) -> None:
    for claim in CLAIMS.values():
        data = claim.judged(results)
        assert data["checks"], claim.id
        json.dumps(data, allow_nan=False)
    assert CLAIMS["two-terms"].judged(results)["verdict"] == "holds"
    assert CLAIMS["bias-is-the-critics"].judged(results)["verdict"] == "holds"
    contexts = results["controls"]["contexts"]
    slow = contexts[0]["raw"]["extremes"]["actor"]["long_covariance_share"]
    fast = contexts[1]["raw"]["extremes"]["actor"]["long_covariance_share"]
    assert slow["low"] > 0.5 > fast["high"]
    # Exact: the tenth part of STATISTICS' table, ESS/NT .174 at 1x128.
    assert slow["low"] < 1 - 0.174 < slow["high"]
    for name, (keys, good, bad) in TURNS.items():
        check_turns(CLAIMS[name], results, keys, good, bad)
    check_other_shapes(results)


def check_turns(
    claim: Claim, results: dict[str, Any], keys: tuple[str, ...], good: float, bad: float
) -> None:
    """The verdict follows the numbers, in both directions."""
    before = copy.deepcopy(results)
    held = claim.judged(set_everywhere(results, keys, around(good)))
    failed = claim.judged(set_everywhere(results, keys, around(bad)))
    assert held["word"] == "holds", claim.id
    assert failed["word"] == "does not hold", claim.id
    assert results == before


def check_other_shapes(results: dict[str, Any]) -> None:
    """Claims whose numbers are in lists, or under the names of the lambdas."""
    changed = copy.deepcopy(results)
    for stage in (*changed["layouts"]["stages"], *changed["controls"]["contexts"]):
        for profile in stage["raw"]["lags"].values():
            profile["within"] = [around(0.5)] * len(profile["within"])
    assert CLAIMS["neighbours-correlate"].judged(changed)["word"] == "holds"
    found = changed["critics"]
    for one in (*found["measured"], found["exact"]):
        for critic in one["critics"]:
            critic["short_less_long"] = {lam: around(-1.0) for lam in critic["short_less_long"]}
    assert CLAIMS["short-rollouts-bias"].judged(changed)["word"] == "does not hold"
    changed["controls"]["terms"][0]["covariance"] += 1.0
    changed["controls"]["terms"][0]["summed_over_pairs"] *= 1.01
    assert CLAIMS["two-terms"].judged(changed)["word"] != "holds"
