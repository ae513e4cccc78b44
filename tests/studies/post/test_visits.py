"""Shifts of what is visited: a tiny run twice, and verdicts that follow the data."""

import json
from dataclasses import replace

import pytest
from tests.studies import worlds

from nbyt.layout import Layout
from nbyt_studies.post.claims.visits import EVIDENCE
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


def test_shifting_is_a_distance_above_the_floor() -> None:
    results = worlds.visits(1.0)
    shift = next(claim for claim in VISITS if claim.id == "visits-shift")
    found = shift.judged(results)
    slides = found["figures"][0]
    assert slides["kind"] == "slides" and len(slides["frames"]) == len(slides["words"]) == 2
    for data in results.values():
        for seed in data["seeds"]:
            seed["floor"] = [number(2.0)] * 2
    assert shift.judged(results)["word"] == "does not hold"
