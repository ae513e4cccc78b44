"""The page of a probed training in a real browser: charts, slider, both themes, a narrow screen."""

import pytest
from tests.report.browsing import Visit

_COURSE = "chart-course-0-0-0"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_chart_is_drawn_and_all_text_can_be_read(opened: Visit, scheme: str) -> None:
    opened.page.emulate_media(color_scheme=scheme)
    opened.page.set_viewport_size({"width": 1280, "height": 9000})
    opened.all_drawn()
    found = opened.contrasts()
    assert len(found) > 200
    assert [one for one in found if one[-1] < 4.5] == []
    assert opened.complaints == [] and opened.asked == []


def test_the_slider_changes_the_update(opened: Visit) -> None:
    opened.all_drawn()
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
    opened.all_drawn()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert opened.complaints == []
