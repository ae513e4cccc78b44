"""Shifts of what is visited: a tiny run twice, and verdicts that follow the data."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest

from nbyt.layout import Layout
from nbyt_studies.post.claims.visits import EVIDENCE, NEEDS
from nbyt_studies.post.experiments import visits
from nbyt_studies.study import read_claims

VISITS = read_claims("nbyt_studies.post", EVIDENCE)


def number(value: float) -> dict:
    return {"value": value, "low": value, "high": value}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(visits, "SEEDS", (2, 2))
    monkeypatch.setattr(visits, "CHAINS", (8, 8))
    monkeypatch.setattr(visits, "POINTS", 2)
    at = ((1, 9), (1, 9))
    return [replace(run, layout=Layout(4, 8, 16, 1), at=at) for run in visits.RUNS]


@pytest.mark.parametrize("place", [0, 1])
def test_an_experiment_gives_the_same_plain_data_twice(small, make_context, place) -> None:
    first, second = (visits.run_one(make_context(), small[place]) for _ in range(2))
    assert first == second == json.loads(json.dumps(first, allow_nan=False))
    assert first["early"] == [1] and first["late"] == [9]
    for seed in first["seeds"]:
        assert all(len(seed[name]) == 2 for name in ("distance", "floor", "divergence", "step"))
    if place == 0:
        assert all(sum(law) == pytest.approx(1, abs=1e-3) for law in first["seeds"][0]["maps"])
        assert first["seeds"][0]["floor"] == [number(0.0)] * 2


def made_up(early: float, late: float) -> dict:
    """Three runs whose numbers are those, but for a little that differs from seed to seed."""
    results = {}
    for name, env in zip(
        NEEDS, ("tabular:FrozenLake8x8-v1", "gymnax:CartPole-v1", "gymnax:Pendulum-v1"), strict=True
    ):
        seeds = []
        for seed in range(4):
            pair = [number(early * (1 + 0.01 * seed)), number(late * (1 + 0.01 * seed**2))]
            own = dict.fromkeys(("distance", "divergence", "step"), pair)
            seeds.append({"at": [1, 9], "floor": [number(0.0)] * 2, **own})
        seeds[0]["maps"] = [[1 / 64] * 64] * 2
        returns = {"update": [1, 2], "value": [0.0, 1.0]}
        spans = {"early": [1], "late": [9], "updates": 10, "layout": "16 x 128"}
        results[name] = {"env": env, **spans, "seeds": seeds, "returns": returns}
    return results


@pytest.mark.parametrize("claim", VISITS[1:], ids=lambda claim: claim.id)
def test_settling_is_a_smaller_late_number(claim) -> None:
    assert claim.judged(made_up(1.0, 0.1))["word"] == "holds"
    found = claim.judged(made_up(0.1, 1.0))
    assert found["word"] == "does not hold"
    assert found["figures"]


def test_shifting_is_a_distance_above_the_floor() -> None:
    shift = VISITS[0]
    results = made_up(1.0, 0.1)
    found = shift.judged(results)
    assert found["word"] == "holds"
    slides = found["figures"][0]
    assert slides["kind"] == "slides" and len(slides["frames"]) == len(slides["words"]) == 2
    still = deepcopy(results)
    for data in still.values():
        for seed in data["seeds"]:
            seed["floor"] = [number(2.0)] * 2
    assert shift.judged(still)["word"] == "does not hold"
