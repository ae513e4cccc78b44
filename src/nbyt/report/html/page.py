"""Pages as one HTML file without a network: parts with charts, sections, and the page itself."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from nbyt.plotly_figure import plotly_script
from nbyt.report.html.element import Child, Markup, Value, code, embedded, join, raw, tag
from nbyt.results.values import Data
from nbyt.store.atomic import write_text

Charts = dict[str, list[Data]]  # by id: one for each place of its slider, or a single one


@dataclass(frozen=True)
class Slider:
    """The words of a slider at each of its places, and the place where it starts."""

    words: Sequence[str]
    start: int = 0


@dataclass(frozen=True)
class Part:
    """HTML with its charts and sliders by the ids of their elements, and links to its sections."""

    html: Markup
    charts: Charts = field(default_factory=dict)
    sliders: dict[str, Slider] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def inside(self, html: Markup) -> "Part":
        """Return the same charts, sliders and links in HTML that was built around this part's."""
        return Part(html, self.charts, self.sliders, self.links)


Content = Part | Child


def merged(parts: Iterable[Content]) -> Part:
    """Put parts and HTML one after the other."""
    content = list(parts)
    charts: Charts = {}
    sliders: dict[str, Slider] = {}
    links: dict[str, str] = {}
    for part in content:
        if isinstance(part, Part):
            charts |= part.charts
            sliders |= part.sliders
            links |= part.links
    html = join(part.html if isinstance(part, Part) else part for part in content)
    return Part(html, charts, sliders, links)


def wrap(element: str, *content: Content, **attributes: Value) -> Part:
    """Put an HTML element around parts; see `tag` for the attributes."""
    inner = merged(content)
    return inner.inside(tag(element, inner.html, **attributes))


def section(
    name: str, title: str, lead: Child, *content: Content, link: str = "", quiet: bool = False
) -> Part:
    """Build a section with a heading and a sentence that says how to read it.

    link: its word in the page's navigation. quiet: the heading is for screen readers only.
    """
    heading = tag("h2", title, id=f"{name}-title", class_="visually-hidden" if quiet else None)
    intro = None if lead is None else tag("p", lead, class_="lead")
    attributes = {"id": name, "aria_labelledby": f"{name}-title"}
    links = Part(join([]), links={name: link} if link else {})
    return wrap("section", links, heading, intro, *content, **attributes)


def chart(name: str, description: str, figures: Sequence[Data], title: Child = None) -> Part:
    """Build a chart with a heading; with several figures the slider over the stages changes it."""
    heading = None if title is None else tag("h3", title)
    return wrap("figure", heading, chart_place(name, description, figures, "stage"))


def chart_place(name: str, description: str, figures: Sequence[Data], slider: str) -> Part:
    """Reserve the place of a chart, tall enough that nothing moves when it is drawn."""
    height = max(figure["layout"]["height"] for figure in figures)
    place = tag(
        "div",
        id=f"chart-{name}",
        class_="chart",
        role="img",
        aria_label=description,
        style=f"min-height:{height}px",
        data_slider=slider if len(figures) > 1 else None,
    )
    return Part(place, {f"chart-{name}": list(figures)})


def side_by_side(parts: Iterable[Part]) -> Part:
    """Put charts in a row, or below each other where there is no room."""
    charts = list(parts)
    return wrap("div", *charts, class_="row three" if len(charts) == 3 else "row")


def slider_handle(name: str, words: Sequence[str], at: int = 0) -> Markup:
    """Build the range input of a slider. words: of each of its places."""
    return tag(
        "input",
        type="range",
        id=name,
        min=0,
        max=len(words) - 1,
        step=1,
        value=at,
        disabled=len(words) == 1,
        aria_valuetext=words[at],
    )


def slider_bar(name: str, label: str, words: Sequence[str], start: int = 0) -> Part:
    """Build the bar above what a slider changes; with one place, its word alone."""
    if len(words) == 1:
        only = tag("div", tag("strong", label), tag("span", words[0]), class_="slide-bar")
        return Part(only)
    output = tag("output", words[0], for_=name, data_word_of=name)
    bar = tag(
        "div",
        tag("label", label, for_=name),
        slider_handle(name, words),
        output,
        class_="slide-bar",
    )
    return Part(bar, sliders={name: Slider(words, start)})


def by_stage(blocks: Sequence[Child], start: int) -> Markup:
    """Show of these blocks only that of the chosen stage."""
    return by_place(blocks, start, "stage")


def by_place(blocks: Sequence[Child], start: int, slider: str) -> Markup:
    """Show of these blocks only that of the slider's place."""
    return join(
        tag("div", block, data_of=slider, data_place=place, hidden=place != start)
        for place, block in enumerate(blocks)
        if block is not None
    )


def table(label: str, head: Sequence[Child], rows: Iterable[Markup], **attributes: Any) -> Markup:
    """Build a table that scrolls by itself where it is too wide, by keyboard too."""
    return grouped_table(label, head, [tag("tbody", *rows)], **attributes)


def grouped_table(
    label: str, head: Sequence[Child], bodies: Iterable[Markup], **attributes: Any
) -> Markup:
    """Build such a table with several bodies."""
    top = tag("thead", tag("tr", *(tag("th", cell, scope="col") for cell in head)))
    body = tag("table", top, *bodies, **attributes)
    return tag("div", body, class_="scroll", role="region", aria_label=label, tabindex="0")


def row(*cells: Child) -> Markup:
    """Build a row of a table."""
    return tag("tr", *(tag("td", cell) for cell in cells))


def switch(words: Mapping[str, str], start: str, label: str) -> Markup | None:
    """Build buttons that choose one of several blocks; None for a single one."""
    buttons = [
        tag("button", word, type="button", data_show=kind, aria_pressed=str(kind == start).lower())
        for kind, word in words.items()
    ]
    several = len(buttons) > 1
    return tag("div", *buttons, class_="tabs", role="group", aria_label=label) if several else None


def switched(kind: str, word: str, content: Markup, start: str) -> Markup:
    """Build a block that is shown while its kind is chosen, or all of them on paper."""
    title = tag("h3", word, class_="print-only")
    return tag("div", title, content, data_kind=kind, hidden=kind != start)


def numbers(title: str, content: Markup) -> Markup:
    """Fold the numbers of a chart away."""
    return tag("details", tag("summary", title), content)


def command(text: str, name: str = "reproduce") -> Markup:
    """Show a command with a button that copies it."""
    button = tag("button", "Copy", type="button", class_="copy", data_copy=name)
    return tag("div", tag("pre", code(text), id=name, tabindex="0"), button, class_="command")


def facts(rows: Sequence[tuple[Child, Child]]) -> Markup:
    """List names with their values."""
    inside = [tag("div", tag("dt", name), tag("dd", value)) for name, value in rows]
    return tag("dl", *inside, class_="assumed")


def titled_facts(title: str, rows: Sequence[tuple[Child, Child]]) -> Markup | None:
    """List names with their values below a heading; None if there are none."""
    return join([tag("h3", title), facts(rows)]) if rows else None


@cache
def behaviour() -> str:
    """Read the script of the pages."""
    return _read("behaviour.js")


def _read(name: str) -> str:
    return (resources.files("nbyt.report.html") / name).read_text("utf-8")


@dataclass(frozen=True)
class Page:
    """A page: a header with links to the sections, and the sections.

    kind: its class in the style sheet. title: of the browser's tab; heading: of the page. skip:
    words of the link that jumps over the header to the first section. lazy: a chart is drawn when
    it comes near; for pages with many of them.
    """

    kind: str
    title: str
    brand: str
    heading: Child
    about: Sequence[Child]
    skip: str
    sections: Sequence[Part]
    lazy: bool = True

    def write(self, path: Path) -> None:
        """Write the page; `path` holds all of it, or what it held before."""
        write_text(path, self.html())

    def html(self) -> str:
        """Return the page as HTML that needs no other file and no network."""
        content = merged(self.sections)
        scripts = [plotly_script(), behaviour()]
        body = tag(
            "body",
            self._header(content.links),
            tag("main", content.html, id="main"),
            tag("div", id="tip", role="tooltip", hidden=True),
            tag("div", id="said", class_="visually-hidden", aria_live="polite"),
            tag("script", self._data(content), type="application/json", id="page-data"),
            *(tag("script", raw(script)) for script in scripts),
            class_=self.kind,
        )
        return f"<!doctype html>\n{tag('html', _head(self.title, scripts), body, lang='en')}\n"

    def _header(self, links: dict[str, str]) -> Markup:
        first = next(iter(links), "main")
        anchors = [tag("a", word, href=f"#{name}") for name, word in links.items()]
        return tag(
            "header",
            tag("a", self.skip, href=f"#{first}", class_="skip"),
            tag("p", self.brand, class_="brand"),
            tag("button", "Dark", type="button", id="theme", aria_pressed="false"),
            tag("h1", self.heading),
            *(tag("p", line, class_="muted") for line in self.about),
            tag("nav", *anchors, aria_label="Sections"),
        )

    def _data(self, content: Part) -> Markup:
        sliders = {
            name: {"words": list(slider.words), "start": slider.start}
            for name, slider in content.sliders.items()
        }
        return raw(embedded({"charts": content.charts, "sliders": sliders, "lazy": self.lazy}))


def _head(title: str, scripts: Sequence[str]) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(scripts)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", raw(_read("style.css"))),
    )


def policy(scripts: Sequence[str]) -> str:
    """Return a content security policy that allows these scripts, inline styles, nothing else."""
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    # Styles are 'unsafe-inline' because Plotly sets them on its elements; images are what a
    # chart is saved as.
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
