"""The page of a sweep in a real browser: charts, sliders, both themes, a narrow screen, print."""

import pytest
from tests.report.browsing import Visit


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_chart_is_drawn_and_all_text_can_be_read(opened: Visit, scheme: str) -> None:
    opened.page.emulate_media(color_scheme=scheme)
    opened.all_drawn()
    found = opened.contrasts()
    assert len(found) > 200
    assert [one for one in found if one[-1] < 4.5] == []
    assert opened.complaints == [] and opened.asked == []


def test_the_keyboard_brings_another_layout_forward(opened: Visit) -> None:
    opened.all_drawn()
    name = "chart-curves-per_second"
    slider, before = opened.page.locator("#slider-curves"), opened.plotted(name)
    slider.focus()
    slider.press("Home")
    assert opened.page.locator('[data-word-of="slider-curves"]').inner_text() == "32x2"
    assert opened.plotted(name) != before
    opened.page.get_by_role("button", name="For the same time").press("Enter")
    assert opened.page.locator('[data-kind="per_second"]').is_visible()
    assert not opened.page.locator('[data-kind="per_sample"]').is_visible()
    assert opened.complaints == []


def test_nothing_sticks_out_of_a_narrow_screen(opened: Visit) -> None:
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.set_viewport_size({"width": 390, "height": 16_000})
    opened.all_drawn()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.complaints == []
