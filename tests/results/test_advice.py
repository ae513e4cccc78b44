"""Advice as a file: it comes back whole, and parts that contradict each other are refused."""

import pytest
from tests.results.reading import FILE, comes_back_whole
from tests.store import kept

from nbyt.errors import StoreError
from nbyt.results import decode
from nbyt.results.advice import Advice, Costs


def test_a_ranking_of_other_layouts_is_refused() -> None:
    facts = kept.advice()
    facts["stages"][0]["ranking"]["critic"].pop()
    with pytest.raises(StoreError, match=r"stages\[0\]: a ranking has other layouts"):
        decode(facts, Advice, FILE)


def test_lags_that_only_one_objective_has_are_refused() -> None:
    facts = kept.advice()
    del facts["stages"][0]["lags"]["critic"]["within"]["128"]
    with pytest.raises(StoreError, match=r"stages\[0\]\.lags: objectives have different lags"):
        decode(facts, Advice, FILE)


def test_advice_and_its_costs_come_back_whole() -> None:
    assert comes_back_whole(kept.advice(), Advice)
    assert comes_back_whole(kept.COSTS, Costs)
