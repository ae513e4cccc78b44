"""Parts, sections and the page that they make up."""

import json
import re
from pathlib import Path

import pytest

from nbyt.report.html.element import tag
from nbyt.report.html.page import (
    Page,
    Part,
    chart_place,
    merged,
    section,
    slider_bar,
    slider_handle,
    titled_facts,
    wrap,
)

FIGURE = {"data": [], "layout": {"height": 300}}


def _page(*sections: Part) -> Page:
    about = ["about it"]
    return Page("sweep", "title", "brand", "heading", about, "Skip", sections)


def test_an_element_around_parts_keeps_their_charts_sliders_and_links() -> None:
    place = chart_place("a", "a chart", [FIGURE, FIGURE], "slider-a")
    bar = slider_bar("slider-a", "Which", ["one", "two"], start=1)
    inner = section("first", "First", None, bar, wrap("div", place), link="One")
    whole = merged([tag("p", "before"), wrap("article", inner), None])
    assert list(whole.charts) == ["chart-a"] and len(whole.charts["chart-a"]) == 2
    assert whole.sliders["slider-a"].start == 1
    assert whole.links == {"first": "One"}
    assert whole.html.startswith("<p>before</p><article><section")


@pytest.mark.usefixtures("light")
def test_links_are_those_of_the_sections_in_order() -> None:
    second = section("second", "B", None, link="Second")
    quiet = section("first", "A", "how to read it", link="First", quiet=True)
    html = _page(quiet, second, section("third", "C", None)).html()
    nav = re.search("<nav.*?</nav>", html)
    assert nav is not None
    assert re.findall('href="#([a-z]+)">([A-Za-z]+)<', nav[0]) == [
        ("first", "First"),
        ("second", "Second"),
    ]
    assert '<a href="#first" class="skip">Skip</a>' in html
    assert '<h2 id="first-title" class="visually-hidden">' in html


@pytest.mark.usefixtures("light")
def test_the_data_of_charts_are_in_the_page(tmp_path: Path) -> None:
    bar = slider_bar("slider-a", "Which", ["one", "two"], start=1)
    page = _page(section("first", "A", None, bar, chart_place("a", "", [FIGURE], "slider-a")))
    page.write(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf-8")
    assert html == page.html()
    found = re.search('id="page-data">(.*?)</script>', html)
    assert found is not None
    assert json.loads(found[1]) == {
        "charts": {"chart-a": [FIGURE]},
        "sliders": {"slider-a": {"words": ["one", "two"], "start": 1}},
        "lazy": True,
    }


def test_a_slider_with_one_place_cannot_be_moved() -> None:
    assert "disabled" in slider_handle("s", ["only"])
    assert 'value="1"' in slider_handle("s", ["a", "b"], 1)
    only = slider_bar("s", "Which", ["only"])
    assert only.sliders == {} and "<input" not in only.html and "only" in only.html


def test_facts_without_rows_have_no_heading() -> None:
    assert titled_facts("Versions", []) is None
    assert "<h3>Versions</h3>" in str(titled_facts("Versions", [("nbyt", "1")]))
