"""Tables of a measurement in a terminal: they fit, and no word or number is cut."""

import copy
from typing import Any

import pytest
from tests.report.tables.printing import GRADIENT, WIDE, uncut

from nbyt.report.tables.probes import direction_table, lag_table, noise_table


@pytest.mark.parametrize("table", [direction_table, noise_table])
def test_a_probe_has_all_its_numbers(table: Any) -> None:
    layouts = [
        {"envs": 65536 // steps, "steps": steps, "lambda": 0.95, "actor": copy.deepcopy(GRADIENT)}
        for steps in (1, 65536)
    ]
    places = [{**one, "regret": WIDE, "tied_with_best": True} for one in layouts]
    data = {"layouts": layouts, "lambda": 0.95, "ranking": {"actor": places}}
    assert "65536x1*" in uncut(table(data, "actor"), 8)


def test_correlations_have_all_their_numbers() -> None:
    number = {"value": -0.000123, "low": -0.000456, "high": -0.0000789, "approximate": True}
    profile = {"within": {"1": number, "512": number}, "across": number}
    lags = {"lags": dict.fromkeys(("actor", "critic", "total"), profile)}
    assert uncut(lag_table(lags), 9).count("~-0.000123") == 9
