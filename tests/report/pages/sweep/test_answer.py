"""The answer, and what else the page says in words."""

from typing import Any

import pytest
from tests.report.hostile import words_of
from tests.report.pages.sweep.reading import rendered

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_what_came_out_is_said(data: Data) -> None:
    words = words_of(rendered(data))
    for said in (
        "Best for the same samples",
        "1x64 loses",
        "Rank correlation of what was kept and what was reached",
        "default of Stable-Baselines3",
        "nbyt sweep tabular:FrozenLake-v1 --batch 64",
        "stratified bootstrap",
    ):
        assert said in words
    assert "None" not in words and "nan" not in words.split()
