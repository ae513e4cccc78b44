"""The page of a probed training in a real browser: charts, slider, both themes, a narrow screen."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.report.browsing import Visit
from tests.report.pages.probes.probes_sample import training

from nbyt.report.pages.probes import write_probes_page

_COURSE = "chart-course-0-0-0"


@pytest.fixture(scope="module")
def opened(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """One page that stays open, so tall that every chart is near."""
    path = tmp_path_factory.mktemp("probes") / "page.html"
    data = training()
    data["settings"]["rollout_buffer_options_with_a_long_name"] = "x" * 80
    write_probes_page(data, path)
    seen = Visit(chromium, path, "chart-now-1", viewport={"width": 1280, "height": 9000})
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
    opened.page.set_viewport_size({"width": 1280, "height": 9000})
    all_drawn(opened)
    found = opened.contrasts()
    assert len(found) > 200
    assert [one for one in found if one[-1] < 4.5] == []
    assert opened.complaints == [] and opened.asked == []


def test_the_slider_changes_the_update(opened: Visit) -> None:
    all_drawn(opened)
    slider = opened.page.locator("#slider-course-0")
    assert slider.input_value() == "11"
    before = opened.plotted(_COURSE)
    slider.fill("0")
    assert opened.plotted(_COURSE) != before
    assert "update 10, after 20,480 samples" in opened.page.locator(".slide-bar").inner_text()
    assert opened.complaints == []


def test_nothing_sticks_out_of_a_narrow_screen(opened: Visit) -> None:
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.set_viewport_size({"width": 400, "height": 16_000})
    all_drawn(opened)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert opened.complaints == []
