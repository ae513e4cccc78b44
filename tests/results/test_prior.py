"""The shipped reference tasks are read by the types that they were written with."""

import json
from pathlib import Path

import pytest

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.prior import Loss, Prior, TrackRecord

PATH = Path("prior.json")


def test_a_track_record_survives_json() -> None:
    loss = Loss(value=0.02, low=0.01, high=0.03)
    row = TrackRecord(
        costs="parallel",
        trainings=4,
        tasks=9,
        sealed=True,
        race=loss,
        constant=loss,
        search="grid",
        search_loss=loss,
    )
    prior = Prior(version="2026-11", tasks=(), record=(row,))
    assert decode(json.loads(json.dumps(plain(prior))), Prior, PATH) == prior


def test_a_wrong_file_is_refused_with_the_key() -> None:
    with pytest.raises(StoreError, match=r"tasks"):
        decode({"version": "x", "tasks": 3}, Prior, PATH)


@pytest.mark.parametrize("value", [1e308, -1e308, 10**30])
@pytest.mark.parametrize("key", ["value", "low", "high"])
def test_a_loss_that_no_page_could_write_is_refused(key: str, value: float) -> None:
    facts = {"value": 0.02, "low": 0.01, "high": 0.03, key: value}
    with pytest.raises(StoreError, match=key):
        decode(facts, Loss, PATH)
