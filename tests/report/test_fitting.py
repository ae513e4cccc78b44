"""Tables in a terminal of 80 columns: they fit, and no word or number is cut."""

import copy
import io
from typing import Any

import pytest
from rich.console import Console

from nbyt.report.numbers import WIDTH, fitted
from nbyt.report.tables.advice import ranking_table, stage_table
from nbyt.report.tables.probes import direction_table, lag_table, noise_table

Data = dict[str, Any]
WIDE = {"value": -0.0123, "low": -0.0213, "high": -0.0031}
GRADIENT = dict.fromkeys(
    (
        *("alignment", "cosine", "noise_factor", "bias_sq"),
        *("variance", "individual", "covariance", "ess_ratio"),
    ),
    WIDE,
)
LIBRARIES = ["Stable-Baselines3", "TorchRL with its long name"]


def printed(table: Any) -> list[str]:
    """The lines that a terminal of 80 columns gets."""
    console = Console(file=io.StringIO(), width=WIDTH, highlight=False)
    console.print(table)
    return console.file.getvalue().splitlines()


def uncut(table: Any, numbers: int) -> str:
    """The words of a table that fits and has so many intervals, none of them cut."""
    lines = printed(table)
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= WIDTH and "…" not in text
    assert text.count("[") == text.count("]") == numbers
    return text


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


def test_intervals_go_below_values_only_where_a_table_is_too_wide() -> None:
    narrow, wide = [[".31 [.27 .36]"] * columns for columns in (3, 9)]
    assert fitted(["a"] * 3, [narrow]) == [narrow]
    assert fitted(["a"] * 9, [wide]) == [[".31\n[.27 .36]"] * 9]
