"""The page of a study in a real browser: sliders, filter, themes, sizes, paper."""

from typing import Any

import pytest

Data = dict[str, Any]
_SLIDER = "#slider-claim-short-bias-0"
_SLID = ["chart-claim-short-bias-0-0-0", "chart-claim-short-bias-0-0-1"]
_PAYLOAD = "<img src=//evil.example/x onerror=alert(1)><a href='javascript:alert(1)'>x</a>&lt;b&gt;"


def near(seen: Any, *names: str) -> None:
    """Scroll these charts into view and wait until they are drawn."""
    for name in names:
        seen.unfold(name)
        seen.page.locator(f"#{name}").scroll_into_view_if_needed()
        seen.until(f"document.getElementById('{name}').data !== undefined")


def all_drawn(seen: Any) -> None:
    """Scroll every chart into view."""
    names = seen.page.evaluate("[...document.querySelectorAll('.chart')].map(e => e.id)")
    near(seen, *names)


def test_it_opens_offline_and_draws_what_is_near(visit: Any) -> None:
    seen = visit()
    assert seen.page.locator(".chart:not(:has(.main-svg))").count() > 0
    all_drawn(seen)
    assert seen.page.locator(".chart:not(:has(.main-svg))").count() == 0
    assert seen.complaints == [] and seen.asked == []


def test_the_slider_obeys_the_keyboard(seen: Any) -> None:
    near(seen, *_SLID)
    slider = seen.page.locator(_SLIDER)
    slider.focus()
    seen.page.keyboard.press("Home")
    before = [seen.plotted(name) for name in _SLID]
    seen.page.keyboard.press("ArrowRight")
    after = [seen.plotted(name) for name in _SLID]
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert slider.get_attribute("aria-valuetext") == "after 40 updates"
    slides = seen.page.locator(".slides")
    assert slides.locator("output").inner_text() == "after 40 updates"
    assert "Alignment, after 40 updates" in slides.inner_text()
    assert "before training" not in slides.inner_text()
    seen.page.keyboard.press("End")
    assert slides.locator("output").inner_text() == "at the end"
    assert slides.locator(".key", has_text="N = 128").count() == 1
    assert seen.complaints == []


def test_the_slider_obeys_the_mouse(seen: Any) -> None:
    near(seen, *_SLID)
    slider = seen.page.locator(_SLIDER)
    slider.fill("0")
    before = seen.plotted(_SLID[0])
    fixed = seen.plotted("chart-claim-correlated-steps-0")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    seen.page.mouse.click(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    assert slider.input_value() == "3"
    assert seen.plotted(_SLID[0]) != before
    assert seen.plotted("chart-claim-correlated-steps-0") == fixed


def test_a_chart_that_was_far_away_shows_where_the_slider_is(visit: Any) -> None:
    seen = visit()
    seen.page.locator(_SLIDER).evaluate(
        "e => { e.value = '2'; e.dispatchEvent(new Event('input')); }"
    )
    near(seen, *_SLID)
    far = seen.plotted(_SLID[0])
    seen.page.locator(_SLIDER).fill("0")
    assert seen.plotted(_SLID[0]) != far
    seen.page.locator(_SLIDER).fill("2")
    assert seen.plotted(_SLID[0]) == far


def test_claims_are_filtered_by_verdict(seen: Any) -> None:
    page = seen.page
    rows = page.locator("#claims tr[data-verdict]:visible")
    page.get_by_role("button", name="does not hold 1").click()
    assert rows.count() == 1 and "More envs" in rows.inner_text()
    assert page.locator("#claims .topic:visible").all_inner_texts() == ["Bias and noise"]
    assert page.locator("#said").text_content() == "1 claim"
    page.get_by_role("button", name="cannot be told 2").click()
    assert rows.count() == 2
    page.get_by_role("button", name="All 5").click()
    assert rows.count() == 5


def test_a_claim_leads_to_its_article(seen: Any) -> None:
    seen.page.locator("#claims tbody a").nth(3).click()
    seen.until("document.getElementById('claim-same-phase').getBoundingClientRect().top < 60")
    assert seen.page.url.endswith("#claim-same-phase")
    article = seen.page.locator("#claim-same-phase > details")
    assert article.evaluate("one => one.open")
    assert not seen.page.locator("#claim-short-bias > details").evaluate("one => one.open")


def test_figures_stand_beside_each_other_where_there_is_room(seen: Any) -> None:
    near(seen, *(f"chart-claim-same-phase-0-{k}" for k in (0, 1)))
    where = """[0, 1].map(k => document.getElementById(
        `chart-claim-same-phase-0-${k}`).getBoundingClientRect().toJSON())"""
    left, right = seen.page.evaluate(where)
    assert left["right"] <= right["left"] and left["top"] == right["top"]
    seen.page.set_viewport_size({"width": 500, "height": 900})
    left, right = seen.page.evaluate(where)
    assert left["bottom"] <= right["top"] and left["left"] == right["left"]


@pytest.mark.parametrize("width", [360, 700, 1600])
def test_nothing_sticks_out_to_the_side(seen: Any, width: int) -> None:
    page = seen.page
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    all_drawn(seen)
    page.wait_for_timeout(200)  # a change of the window's size is waited for
    all_drawn(seen)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        """() => [...document.querySelectorAll(".chart")].filter(
            e => e.querySelector(".main-svg").clientWidth > e.clientWidth + 1).length"""
    )
    assert wide == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(seen: Any, scheme: str) -> None:
    page = seen.page
    page.emulate_media(color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.set_viewport_size({"width": 1280, "height": 12_000})  # all charts are near
    all_drawn(seen)
    found = seen.contrasts()
    assert len(found) > 300
    assert [one for one in found if one[-1] < 4.5] == []


def test_the_button_changes_page_and_charts(visit: Any) -> None:
    seen = visit()
    near(seen, seen.chart)
    look = f"[getComputedStyle(document.body).backgroundColor, \
        document.getElementById('{seen.chart}').layout.font.color]"
    light = seen.page.evaluate(look)
    seen.page.locator("#theme").click()
    # The click scrolls to the button; a chart that is far away changes when it comes near again.
    near(seen, seen.chart)
    seen.until(f"({look})[1] !== '{light[1]}'")
    dark = seen.page.evaluate(look)
    assert light[0] != dark[0]
    # A chart that comes near later has the new colours too.
    near(seen, "chart-claim-more-envs-0")
    colour = "document.getElementById('chart-claim-more-envs-0').layout.font.color"
    seen.until(f"{colour} === '{dark[1]}'")


def test_the_command_is_copied(seen: Any, data: Data) -> None:
    seen.page.locator("#made .copy").click()
    seen.page.get_by_text("Copied").first.wait_for()
    assert seen.page.evaluate("navigator.clipboard.readText()") == data["reproduce"]


def test_names_are_shown_as_text_in_charts_too(visit: Any, data: Data) -> None:
    chart = data["claims"][0]["figures"][0]
    chart["series"][0]["name"] = chart["x"]["title"] = chart["marks"][0][1] = _PAYLOAD
    chart["x"]["ticks"][0][1] = _PAYLOAD
    seen = visit(data)
    seen.page.evaluate(
        """id => Plotly.Fx.hover(
            document.getElementById(id), [{curveNumber: 1, pointNumber: 0}])""",
        seen.chart,
    )
    label = seen.page.locator(f"#{seen.chart} .hoverlayer")
    label.locator("text").first.wait_for()
    assert "<img src=//evil.example" in label.text_content()
    assert seen.page.locator(".chart a, .chart img").count() == 0
    assert seen.complaints == [] and seen.asked == []


def test_paper_is_light_and_shows_all(seen: Any) -> None:
    page = seen.page
    near(seen, *_SLID)
    page.locator(_SLIDER).fill("1")
    page.get_by_role("button", name="does not hold 1").click()
    page.emulate_media(media="print", color_scheme="dark")
    seen.until(f"document.getElementById('{seen.chart}').layout.width === 660")
    assert page.locator(".chart:not(:has(.main-svg))").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("details:not([open])").count() == 0
    assert page.locator("#claims tr[data-verdict]:visible").count() == 5
    assert page.locator("nav").is_hidden() and page.locator(_SLIDER).is_hidden()
    assert "after 40 updates" in page.locator(".slides").inner_text()
    page.set_viewport_size({"width": 680, "height": 900})  # an A4 sheet between its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert page.pdf()[:5] == b"%PDF-"
    page.emulate_media(media="screen", color_scheme="light")
    page.get_by_role("button", name="All 5").click()
    assert seen.complaints == [] and seen.asked == []
