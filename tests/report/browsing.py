"""A page in a browser: what it shows, asks for and complains about."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

WIDE = {"width": 1280, "height": 900}

# Contrast of each text with what is behind it, by the formula of WCAG 2; colours are read from a
# canvas, which knows every way to write one. A colour that lets through is laid over what is below.
_CONTRASTS = """() => {
  const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const pixel = (colours) => {
    context.clearRect(0, 0, 1, 1);
    for (const one of colours) { context.fillStyle = one; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map(x => x / 255).map(
      x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const found = [];
    for (let at = element; at; at = at.parentElement) {
      found.unshift(getComputedStyle(at).backgroundColor);
    }
    return found;
  };
  const ratio = (element, ink) => {
    const below = ground(element);
    const [a, b] = [light(pixel(below)), light(pixel([...below, ink]))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const own = (element) => [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  const texts = [...document.querySelectorAll("header *, main *")].filter(
    e => own(e) && e.checkVisibility() && !e.closest("svg"));
  const labels = [...document.querySelectorAll(".chart text")].filter(e => e.textContent.trim());
  return [
    ...texts.map(e => [e.className, e.textContent, ratio(e, getComputedStyle(e).color)]),
    ...labels.map(e => ["", e.textContent, ratio(e.closest(".chart"), getComputedStyle(e).fill)]),
  ];
}"""


class Browsed(NamedTuple):
    """A kind of page: how it is written, an example, one of its charts, the window."""

    write: Callable[[Any, Path], None]
    sample: Callable[[], Any]
    chart: str
    context: dict[str, Any] = {}  # noqa: RUF012


class Visit:
    """A page that was opened, with what it asked for and what it complained about.

    chart: the id of one that is as wide as the page; it is drawn before anything is asked.
    """

    def __init__(self, chromium: Any, path: Path, chart: str, **context: Any) -> None:
        self.chart = chart
        self.address = path.as_uri()
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.context = chromium.new_context(**{"viewport": WIDE, **context})
        self.context.route("**/*", self._route)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self._said(message))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self._dialog(dialog))
        self.page.goto(self.address)
        self.unfold(chart)
        self.page.locator(f"#{chart}").scroll_into_view_if_needed()
        self.page.wait_for_selector(f"#{chart} .main-svg")

    def _route(self, route: Any) -> None:
        url = route.request.url
        if url == self.address or url.startswith(("data:", "blob:")):
            route.continue_()
        else:
            self.asked.append(url)
            route.abort()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def unfold(self, name: str) -> None:
        """Open what an element is folded away in."""
        self.page.evaluate(
            """name => { for (let one = document.getElementById(name); one; one = one.parentElement)
                if (one.tagName === "DETAILS") one.open = true; }""",
            name,
        )

    def plotted(self, name: str) -> Any:
        """The values that a chart shows now."""
        values = "id => document.getElementById(id).data.map(t => [t.x, t.y])"
        return self.page.evaluate(values, name)

    def all_drawn(self) -> None:
        """Wait until every chart is drawn as wide as its place."""
        self.until(
            """[...document.querySelectorAll(".chart")].every(e => e.querySelector(".main-svg")
                && Math.abs(e.querySelector(".main-svg").clientWidth - e.clientWidth) <= 1)"""
        )

    def until(self, question: str) -> None:
        """Wait until the answer is yes; the page's policy forbids Playwright's own way."""
        for _ in range(600):
            if self.page.evaluate(question):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never came true: {question}")

    def contrasts(self) -> Any:
        """Class, text and contrast of each text, once charts have the page's colours."""
        ink = "getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()"
        self.until(f"document.getElementById('{self.chart}').layout.font.color === {ink}")
        return self.page.evaluate(_CONTRASTS)

    def restore(self) -> None:
        """Reload the page as a reader first finds it."""
        self.page.emulate_media(media="screen", color_scheme="light")
        self.page.set_viewport_size(WIDE)
        self.page.evaluate(
            """() => { delete document.documentElement.dataset.theme;
            document.querySelectorAll("details").forEach(one => { one.open = false; });
            document.activeElement.blur(); scrollTo(0, 0); }"""
        )
        self.unfold(self.chart)
        self.until(f"document.getElementById('{self.chart}').layout.width > 1000")
        self.complaints.clear()
