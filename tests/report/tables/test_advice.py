"""Tables of an advice in a terminal: they fit, and no word or number is cut."""

from typing import Any

import pytest
from msgspec import convert
from tests.report.tables.printing import WIDE, uncut, widened
from tests.report.typed import advice_sample

from nbyt.report.tables.advice import ranking_table, stage_table
from nbyt.results import Advice

LIBRARIES = ["Stable-Baselines3", "TorchRL with its long name"]


def advice() -> Advice:
    """An advice of two layouts, one of which has much to be said of it."""
    data = widened(advice_sample())
    stage = data["stages"][0]
    kept = [(layout["envs"], layout["steps"]) for layout in stage["layouts"]][:2]
    for answer in data["advice"].values():
        answer["ranking"] = [_place(envs, steps) for envs, steps in kept]
        answer |= {"envs": kept[0][0], "steps": kept[0][1], "ties": []}
    stage["layouts"] = stage["layouts"][:2]
    for objective in ("actor", "critic", "total"):
        ranks = stage["ranking"][objective]
        stage["ranking"][objective] = [x for x in ranks if (x["envs"], x["steps"]) in kept]
    for layout in stage["layouts"]:
        layout["seconds"] = {"value": 12.3456, "low": 11.1111, "high": 14.4444}
    stage |= {"clear": True, "closer": None}
    names = ("update 12345 of 2048x1024", "update 12346 of 2048x1024")
    data["stages"] = [{**stage, "name": name} for name in names]
    return convert(data, Advice)


def _place(envs: int, steps: int) -> dict[str, Any]:
    numbers = dict.fromkeys(("relative", "alignment", "regret"), WIDE)
    flags = {"tied_with_best": False, "harmful_at": ["update 5"], "defaults_of": LIBRARIES}
    return {"envs": envs, "steps": steps, "win_share": 0.5, **numbers, **flags}


@pytest.mark.parametrize("kind", ["per_sample", "per_second"])
def test_an_advice_names_libraries_in_full(kind: str) -> None:
    text = uncut(ranking_table(advice(), kind), 4)
    assert text.count("harmful") == 2
    for word in " ".join(LIBRARIES).split():
        assert text.count(word) == 2


def test_stages_with_long_names_have_all_their_numbers() -> None:
    text = uncut(stage_table(advice()), 4)
    assert text.count("of 2048x1024") == 2
