"""The page of a sweep as text: nothing becomes markup, every number has its place."""

import re
from typing import Any

import pytest
from tests.report.hostile import PAYLOADS, Elements, charts_of, poisoned, words_of
from tests.report.pages.sweep.reading import rendered
from tests.sweeps.made_up import curves_of, failure, finished, grid_of, summary

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")
_CLEAN: list[Any] = []
# These are not free text.
CHOICES = {"normalise_advantages", "on_nonfinite"}


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_text_becomes_markup(small: Data, payload: str) -> None:
    if not _CLEAN:
        _CLEAN.append(Elements(rendered(small)).found)
    bad = poisoned(small, payload, CHOICES)
    bad["versions"] = {payload + name: one for name, one in bad["versions"].items()}
    html = rendered(bad)
    assert Elements(html).found == _CLEAN[0]
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u2066\u2028\u2029]", html)


def test_the_test_above_would_see_markup(data: Data) -> None:
    html = rendered(data)
    assert Elements(html.replace("FrozenLake", "<i>")).found != Elements(html).found
    shown = Elements(rendered(poisoned(data, "<script>", CHOICES))).words
    assert sum("<script>" in word for word in shown) > 15


def test_failures_are_listed_with_their_reasons(data: Data) -> None:
    words = words_of(rendered(data))
    assert "10 of 56 trainings failed" in words
    assert "64x1, seeds 0, 1, 2, 3, 4, 5, 6, 7; 32x2, seeds 0, 1" in words
    assert "env 'x' raised ValueError" in words and "What to do: fix the env" in words
    assert "nothing finished" in words and "ValueError: own words" in words


def test_nothing_finished_has_a_page() -> None:
    grid = grid_of(2, (4, 8))
    failures = {cell: failure() for cell in grid.cells}
    html = rendered(summary(grid, {}, failures))
    assert charts_of(html) == {}
    assert words_of(html).count("No training was finished") >= 4


@pytest.mark.parametrize(("seeds", "steps"), [(1, (4, 8)), (1, (8,)), (2, (4, 8, 16))])
def test_the_smallest_sweeps_have_a_page(seeds: int, steps: tuple[int, ...]) -> None:
    grid = grid_of(seeds, steps)
    html = rendered(finished(grid, curves_of(grid)))
    words = words_of(html)
    assert words.count("no winner yet") == 2 and "★ best" not in words and "★ highest" in words
    frames = charts_of(html)["chart-curves-per_second"]
    assert len(frames) == len(steps)


def test_links_lead_somewhere(data: Data) -> None:
    html = rendered(data)
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
    assert set(charts_of(html)) <= set(ids)
