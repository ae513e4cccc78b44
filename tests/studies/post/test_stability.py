"""Noise and stability: a tiny run twice, and verdicts that follow the data."""

import json
from copy import deepcopy

import pytest

from nbyt_studies.post.claims.stability import CLAIMS, rank_correlation
from nbyt_studies.post.experiments import stability

DIRECTIONS, SPREAD = CLAIMS[:2]


@pytest.fixture
def data(make_context, monkeypatch):
    monkeypatch.setattr(stability, "LAYOUTS", ((16, 16), (128, 2)))
    monkeypatch.setattr(stability, "CROWDS", ((16, 16), (2, 16)))
    monkeypatch.setattr(stability, "COMMON", (16, 16))
    monkeypatch.setattr(stability, "UPDATES", (4, 4))
    monkeypatch.setattr(stability, "CHAINS", (8, 8))
    monkeypatch.setattr(stability, "SEEDS", (2, 2))
    first, second = (stability.run(make_context()) for _ in range(2))
    assert first == second
    return json.loads(json.dumps(first, allow_nan=False))


def seeds_of(place: int) -> list[dict]:
    """Runs of a row: the first has the steadier steps and the narrower returns."""
    return [
        {
            "cosine": 0.9 - 0.5 * place + 0.001 * seed,
            "cosines": [0.1, 0.2],
            "final_return": 100 + seed * 1000.0**place,
        }
        for seed in range(6)
    ]


def test_verdicts_follow_the_data(data) -> None:
    for quiet, words in ((0, ("holds", "holds")), (1, ("does not hold", "does not hold"))):
        other = deepcopy(data)
        for place, row in enumerate(other["rows"]):
            for one in row["noise_factors"]:
                one["value"] = 0.9 if place == quiet else 0.1
            row["seeds"] = seeds_of(place)
        for place, row in enumerate(other["crowds"]):
            row["seeds"] = seeds_of(place if quiet == 0 else 1 - place)
        results = {"stability": other}
        found = [claim.judged(results) for claim in (DIRECTIONS, SPREAD)]
        assert tuple(one["word"] for one in found) == words
        assert all(one["figures"] for one in found)


def test_rank_correlation() -> None:
    assert rank_correlation([1.0, 2.0, 3.0, 4.0]) == 1
    assert rank_correlation([4.0, 3.0, 2.0, 1.0]) == -1
    assert rank_correlation([2.0, 1.0, 4.0, 3.0]) == pytest.approx(0.6)
