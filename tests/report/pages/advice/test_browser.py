"""The page in a real browser: it draws, answers to mouse and keyboard, and asks for nothing."""

from typing import Any

import pytest
from tests.report import made_up_advice

Data = dict[str, Any]
_PHONE = {"viewport": {"width": 390, "height": 844}}
_PAYLOAD = "<img src=//evil.example/x onerror=alert(1)><a href='javascript:alert(1)'>x</a>&lt;b&gt;"


def test_it_opens_offline_without_a_complaint(visit: Any) -> None:
    seen = visit()
    charts = seen.page.locator(".chart")
    assert charts.count() >= 8
    assert charts.locator(".main-svg").count() >= charts.count()
    assert seen.complaints == [] and seen.asked == []


@pytest.mark.parametrize(
    "form",
    [
        made_up_advice.without_race,
        made_up_advice.without_time,
        made_up_advice.unlearnt,
        made_up_advice.without_stages,
    ],
)
def test_every_form_opens_on_a_phone(visit: Any, data: Data, form: Any) -> None:
    seen = visit(form(data), **_PHONE)
    assert seen.complaints == [] and seen.asked == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("height", [844, 900])
def test_the_verdict_is_above_the_fold(visit: Any, height: int) -> None:
    width = 390 if height == 844 else 1280
    seen = visit(viewport={"width": width, "height": height})
    for name in (".verdict .big", ".verdict .stats"):
        box = seen.page.locator(name).first.bounding_box()
        assert box["y"] + box["height"] <= height
    if width > 1000:
        own = seen.page.locator(".verdict .own").bounding_box()
        assert own["y"] + own["height"] <= height


def test_a_script_that_is_not_ours_does_not_run(visit: Any) -> None:
    seen = visit()
    seen.page.evaluate(
        """() => { const bad = document.createElement("script");
        bad.textContent = "window.bad = 1"; document.body.append(bad); }"""
    )
    assert seen.page.evaluate("window.bad") is None
    assert any("Content Security Policy" in one for one in seen.complaints)


def test_names_are_shown_as_text_in_charts_too(visit: Any, data: Data) -> None:
    for row in data["layouts"]:
        row["defaults_of"] = [_PAYLOAD]
    seen = visit(data)
    seen.page.evaluate(
        """() => { const chart = document.getElementById("chart-losses");
        const at = chart.data.findIndex(trace => trace.name === "library default");
        Plotly.Fx.hover(chart, [{curveNumber: at, pointNumber: 3}]); }"""
    )
    label = seen.page.locator("#chart-losses .hoverlayer")
    label.locator("text").first.wait_for()
    assert "<img src=//evil.example" in label.text_content()
    assert seen.page.locator(".chart a, .chart img").count() == 0
    assert seen.complaints == [] and seen.asked == []


def test_the_slider_brings_a_curve_forward(seen: Any, data: Data) -> None:
    name = "chart-curves-spent"
    widest = f"""() => document.getElementById("{name}").data.filter(t => t.name)
        .reduce((a, b) => b.line.width > a.line.width ? b : a).name"""
    assert seen.page.evaluate(widest) == "64x32"
    seen.page.locator("#slider-curves").fill("0")
    assert seen.page.evaluate(widest) == "1024x2"
    assert seen.page.locator(".slide-bar output").inner_text() == "1024x2"


def test_the_slider_changes_all_charts_of_stages(seen: Any, data: Data) -> None:
    names = ["chart-factors", "chart-terms-actor", "chart-terms-critic", "chart-lags-actor"]
    before = [seen.plotted(name) for name in names]
    fixed = seen.plotted("chart-losses")
    seen.page.locator("#stage").fill("0")
    after = [seen.plotted(name) for name in names]
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert seen.plotted("chart-losses") == fixed
    shown = seen.page.locator(".about-stage .stage-name:visible")
    assert shown.all_inner_texts() == [data["stages"][0]["name"]]


def test_the_slider_obeys_the_keyboard(seen: Any, data: Data) -> None:
    seen.page.locator("#stage").focus()
    seen.page.keyboard.press("Home")
    first = seen.plotted("chart-factors")
    seen.page.keyboard.press("ArrowRight")
    assert seen.plotted("chart-factors") != first
    told = seen.page.locator("#stage").get_attribute("aria-valuetext")
    assert told.startswith(data["stages"][1]["name"]) and "mean return" in told
    seen.page.keyboard.press("End")
    last = data["stages"][-1]["name"]
    assert last in seen.page.locator(".about-stage").inner_text()
    assert seen.complaints == []


def test_settings_are_copied_letter_by_letter(seen: Any, data: Data) -> None:
    page = seen.page
    page.locator("#panel-0 .copy").click()
    page.get_by_text("Copied").first.wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == data["settings"][0]["paste"]
    page.locator("#tab-0").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.locator(".panel:visible").get_attribute("id") == "panel-1"
    last = len(data["settings"]) - 1
    page.locator("#more-libraries").select_option(str(last))
    page.locator(f"#panel-{last} .copy").click()
    page.locator(f"#panel-{last}").get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == data["settings"][last]["paste"]


def test_copying_works_without_a_clipboard_of_the_page(visit: Any, data: Data) -> None:
    seen = visit(permissions=["clipboard-read", "clipboard-write"])
    seen.page.evaluate(
        """() => { window.read = navigator.clipboard.readText.bind(navigator.clipboard);
        Object.defineProperty(navigator, "clipboard", {value: undefined}); }"""
    )
    seen.page.locator("#panel-0 .copy").click()
    seen.page.get_by_text("Copied").first.wait_for()
    assert seen.page.evaluate("window.read()") == data["settings"][0]["paste"]


def test_words_are_explained_on_focus_and_on_hover(seen: Any) -> None:
    page = seen.page
    page.set_viewport_size(_PHONE["viewport"])
    tip = page.locator("#tip")
    assert tip.is_hidden()
    word = page.locator("#answer .term").first
    word.focus()
    assert "probability that a layout loses" in tip.inner_text()
    assert word.get_attribute("aria-describedby") == "tip"
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    page.locator("#answer .term").nth(1).hover()
    assert "share of the way" in tip.inner_text()
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_the_focus_can_be_seen(seen: Any) -> None:
    page = seen.page
    for _ in range(4):
        page.keyboard.press("Tab")
        width = page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
        assert width >= 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(seen: Any, scheme: str) -> None:
    page = seen.page
    page.emulate_media(color_scheme=scheme)
    # The page hears of it with the next frame: then its button offers the other scheme.
    offered = "Light" if scheme == "dark" else "Dark"
    page.locator("#theme", has_text=offered).wait_for()
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    found = seen.contrasts()
    assert len(found) > 300
    assert [one for one in found if one[-1] < 4.5] == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert dark == (scheme == "dark")


def test_the_button_changes_page_and_charts(seen: Any) -> None:
    page = seen.page
    # A test before may have left it dark, and the page hears of the change with the next frame.
    page.emulate_media(color_scheme="light")
    page.locator("#theme", has_text="Dark").wait_for()
    look = "[getComputedStyle(document.body).backgroundColor, \
        document.getElementById('chart-losses').layout.font.color]"
    light = page.evaluate(look)
    page.locator("#theme").click()
    dark = page.evaluate(look)
    assert light[0] != dark[0] and light[1] != dark[1]
    assert all(one[-1] >= 4.5 for one in seen.contrasts())
    page.locator("#theme").click()
    assert page.evaluate(look) == light


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_to_the_side(seen: Any, width: int) -> None:
    page = seen.page
    page.set_viewport_size({"width": width, "height": 844})
    seen.until(f"document.getElementById('chart-losses').layout.width < {width}")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        """() => [...document.querySelectorAll(".chart")].filter(
            e => e.querySelector(".main-svg").clientWidth > e.clientWidth + 1).length"""
    )
    assert wide == 0


def test_charts_follow_the_window(seen: Any) -> None:
    page = seen.page
    page.set_viewport_size({"width": 390, "height": 844})
    seen.until("document.getElementById('chart-losses').layout.width < 390")
    ticks = page.evaluate("document.getElementById('chart-losses').layout.xaxis.tickvals.length")
    assert 3 <= ticks < 8
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_paper_is_light_and_shows_all(seen: Any) -> None:
    page = seen.page
    page.emulate_media(media="print", color_scheme="dark")
    seen.until("document.getElementById('chart-losses').layout.width === 660")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.getElementById('chart-losses').layout.font.color") == "#1b1f24"
    assert page.locator("details:not([open])").count() == 0
    assert page.locator("nav").is_hidden() and page.locator("#theme").is_hidden()
    assert all(one[-1] >= 4.5 for one in seen.contrasts())
    page.set_viewport_size({"width": 680, "height": 900})  # an A4 sheet between its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert page.pdf()[:5] == b"%PDF-"
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(media="screen", color_scheme="dark")
    seen.until("document.getElementById('chart-losses').layout.width > 660")
    assert page.locator("details[open]").count() == 0
    assert seen.complaints == [] and seen.asked == []
