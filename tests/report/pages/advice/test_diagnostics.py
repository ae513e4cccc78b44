"""Diagnostics: a quick advice has none, and says so."""

from typing import Any

import pytest
from tests.report.hostile import charts_of, words_of
from tests.report.typed import card, render

Data = dict[str, Any]
NOTHING = {"value": None, "low": None, "high": None}


@pytest.mark.usefixtures("light")
def test_a_quick_advice_says_what_it_lacks(quick: Data) -> None:
    html = render(quick)
    words = words_of(html)
    assert "no stage was diagnosed" in words
    assert "there is no answer per second" in words
    assert "The cost of an update was not measured." in words
    assert not {"chart-cost", "chart-sources"} & set(charts_of(html))
    assert "Per second" not in words_of(card(quick))
