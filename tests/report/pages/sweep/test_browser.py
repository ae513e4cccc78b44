"""The page of a sweep in a real browser: charts, sliders, both themes, a narrow screen, print."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.report.browsing import Visit
from tests.sweep.made_up import record

from nbyt.report.pages.sweep import write_page

_CHART = "chart-steps-per_sample"


@pytest.fixture(scope="module")
def opened(
    chromium: Any, _swept: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    """One page that stays open, so tall that every chart is near."""
    path = tmp_path_factory.mktemp("sweep") / "page.html"
    write_page(record(_swept), path)
    seen = Visit(chromium, path, _CHART, viewport={"width": 1280, "height": 9000})
    yield seen
    seen.context.close()


def all_drawn(seen: Visit) -> None:
    """Wait until every chart is drawn as wide as its place."""
    seen.until(
        """[...document.querySelectorAll(".chart")].every(e => e.querySelector(".main-svg")
            && Math.abs(e.querySelector(".main-svg").clientWidth - e.clientWidth) <= 1)"""
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_chart_is_drawn_and_all_text_can_be_read(opened: Visit, scheme: str) -> None:
    opened.page.emulate_media(color_scheme=scheme)
    all_drawn(opened)
    found = opened.contrasts()
    assert len(found) > 200
    assert [one for one in found if one[-1] < 4.5] == []
    assert opened.complaints == [] and opened.asked == []


def test_the_keyboard_brings_another_layout_forward(opened: Visit) -> None:
    all_drawn(opened)
    name = "chart-curves-per_second"
    slider, before = opened.page.locator("#slider-curves"), opened.plotted(name)
    slider.focus()
    slider.press("Home")
    assert opened.page.locator('[data-word-of="slider-curves"]').inner_text() == "64x1"
    assert opened.plotted(name) != before
    opened.page.get_by_role("button", name="For the same time").press("Enter")
    assert opened.page.locator('[data-kind="per_second"]').is_visible()
    assert not opened.page.locator('[data-kind="per_sample"]').is_visible()
    assert opened.complaints == []


def test_nothing_sticks_out_of_a_narrow_screen(opened: Visit) -> None:
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.set_viewport_size({"width": 390, "height": 16_000})
    all_drawn(opened)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.complaints == []
