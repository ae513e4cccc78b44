"""Tables of an advice in a terminal: they fit, and no word or number is cut."""

from typing import Any

import pytest
from tests.report.tables.printing import GRADIENT, WIDE, uncut

from nbyt.report.tables.advice import ranking_table, stage_table

Data = dict[str, Any]
LIBRARIES = ["Stable-Baselines3", "TorchRL with its long name"]


def advice() -> Data:
    """An advice of two layouts, one of which has much to be said of it."""
    places = [
        {
            "envs": 2048 // steps,
            "steps": steps,
            "relative": WIDE,
            "alignment": WIDE,
            "win_share": 0.5,
            "tied_with_best": False,
            "harmful_at": ["update 5"],
            "defaults_of": LIBRARIES,
        }
        for steps in (1, 1024)
    ]
    seconds = {"value": 12.3456, "low": 11.1111, "high": 14.4444}
    layouts = [{**one, "seconds": seconds, "actor": GRADIENT} for one in places]
    stage = {
        "name": "update 12345 of 2048x1024",
        "layouts": layouts,
        "ranking": {"actor": places},
        "mean_return": WIDE,
        "weight": 0.5,
        "clear": True,
        "critic": {"explained_variance": WIDE},
    }
    answer = {"ranking": places}
    both = {"per_sample": answer, "per_second": answer}
    return {"advice": both, "stages": [stage] * 2, "objective": "actor"}


@pytest.mark.parametrize("kind", ["per_sample", "per_second"])
def test_an_advice_names_libraries_in_full(kind: str) -> None:
    text = uncut(ranking_table(advice(), kind), 4)
    assert text.count("harmful") == 2
    for word in " ".join(LIBRARIES).split():
        assert text.count(word) == 2


def test_stages_with_long_names_have_all_their_numbers() -> None:
    text = uncut(stage_table(advice()), 4)
    assert text.count("update 12345 of 2048x1024") == 2
