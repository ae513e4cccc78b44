"""Tables of a measurement in a terminal: they fit, and no word or number is cut."""

from typing import Any

import pytest
from msgspec import convert
from tests.report.tables.printing import WIDE, uncut, widened
from tests.report.typed import advice_sample

from nbyt.report.tables.probes import direction_table, lag_table, noise_table
from nbyt.results import Measurement


@pytest.mark.parametrize("table", [direction_table, noise_table])
def test_a_probe_has_all_its_numbers(table: Any) -> None:
    stage = widened(advice_sample()["stages"][0])
    first, second = stage["layouts"][:2]
    first |= {"envs": 65536, "steps": 1}
    second |= {"envs": 1, "steps": 65536}
    sizes = ("envs", "steps", "lambda")
    places = [
        {name: one[name] for name in sizes} | {"rho": WIDE, "regret": WIDE, "win_share": 0.5}
        for one in (first, second)
    ]
    ranks = [{**place, "tied_with_best": True} for place in places]
    ranking = dict.fromkeys(("actor", "critic", "total"), ranks)
    data = convert({**stage, "layouts": [first, second], "ranking": ranking}, Measurement)
    assert "65536x1*" in uncut(table(data, "actor"), 8)


def test_correlations_have_all_their_numbers() -> None:
    number = {"value": -0.000123, "low": -0.000456, "high": -0.0000789, "approximate": True}
    profile = {"within": {"1": number, "512": number}, "across": number, "independent": True}
    lags = dict.fromkeys(("actor", "critic", "total"), profile)
    data = convert({**advice_sample()["stages"][0], "lags": lags}, Measurement)
    assert uncut(lag_table(data), 9).count("~-0.000123") == 9
