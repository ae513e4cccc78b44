"""What every page is made of: head, policy, frame, and the data and scripts at its end."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import plotly

from nbyt.report.html.element import Child, Markup, code, embedded, join, raw, tag
from nbyt.results.values import Data

Charts = dict[str, list[Data]]  # by id: one for each place of its slider, or a single one


@dataclass(frozen=True)
class Slider:
    """A range input of the page: what is said at each of its places, and where it starts."""

    words: Sequence[str]
    start: int = 0


@dataclass(frozen=True)
class Part:
    """HTML, charts by the id of the element that they are drawn in, and sliders by theirs."""

    html: Markup
    charts: Charts = field(default_factory=dict)
    sliders: dict[str, Slider] = field(default_factory=dict)

    def inside(self, html: Markup) -> "Part":
        """The same charts and sliders, in HTML that was made around this part's."""
        return Part(html, self.charts, self.sliders)


def merged(parts: Iterable[Part]) -> Part:
    """The parts one after the other."""
    found = list(parts)
    charts: Charts = {}
    sliders: dict[str, Slider] = {}
    for one in found:
        charts |= one.charts
        sliders |= one.sliders
    return Part(join(one.html for one in found), charts, sliders)


def section(name: str, title: str, lead: Child, *content: Child) -> Markup:
    """A section with a heading and a sentence that says how to read it."""
    head = tag("h2", title, id=f"{name}-title")
    said = None if lead is None else tag("p", lead, class_="lead")
    return tag("section", head, said, *content, id=name, aria_labelledby=f"{name}-title")


def chart(name: str, description: str, figures: Sequence[Data], title: Child = None) -> Part:
    """A chart with a heading; with several figures the slider over the stages changes it."""
    place = chart_place(name, description, figures, "stage")
    head = None if title is None else tag("h3", title)
    return place.inside(tag("figure", head, place.html))


def chart_place(name: str, description: str, figures: Sequence[Data], slider: str) -> Part:
    """A place for a chart, tall enough that nothing moves when it is drawn."""
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
    """Charts in a row, or below each other where there is no room."""
    found = list(parts)
    whole = merged(found)
    return whole.inside(tag("div", whole.html, class_="row three" if len(found) == 3 else "row"))


def by_stage(blocks: Sequence[Child], start: int) -> Markup:
    """Blocks of which only that of the chosen stage is shown."""
    return by_place(blocks, start, "stage")


def by_place(blocks: Sequence[Child], start: int, slider: str) -> Markup:
    """Blocks of which only that of the slider's place is shown."""
    return join(
        tag("div", block, data_of=slider, data_place=place, hidden=place != start)
        for place, block in enumerate(blocks)
        if block is not None
    )


def table(label: str, head: Sequence[Child], rows: Iterable[Markup], **attributes: Any) -> Markup:
    """A table that scrolls by itself where it is too wide, by keyboard too."""
    return grouped_table(label, head, [tag("tbody", *rows)], **attributes)


def grouped_table(
    label: str, head: Sequence[Child], bodies: Iterable[Markup], **attributes: Any
) -> Markup:
    """The same with several bodies."""
    top = tag("thead", tag("tr", *(tag("th", one, scope="col") for one in head)))
    body = tag("table", top, *bodies, **attributes)
    return tag("div", body, class_="scroll", role="region", aria_label=label, tabindex="0")


def numbers(title: str, content: Markup) -> Markup:
    """The numbers of a chart, folded away."""
    return tag("details", tag("summary", title), content)


@cache
def style() -> str:
    """The style sheet."""
    return _own("style.css")


@cache
def behaviour() -> str:
    """The page's own script."""
    return _own("behaviour.js")


@cache
def plotly_script() -> str:
    """Plotly's script, as its Python package brings it; a page's line ends are always \\n."""
    source = resources.files(plotly) / "package_data" / "plotly.min.js"
    text = source.read_text("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    if "</script" in text.lower() or "<!--" in text:
        raise RuntimeError("Plotly's script would end its own element; use another version")
    return text


def _own(name: str) -> str:
    return (resources.files("nbyt.report.html") / name).read_text("utf-8")


@cache
def study_style() -> str:
    """The style sheet of a study's page, for what it has beyond the style of all pages."""
    return (resources.files("nbyt.report.html") / "study.css").read_text("utf-8")


@cache
def sweep_style() -> str:
    """What goes behind the style sheet of all pages."""
    return (resources.files("nbyt.report.html") / "sweep.css").read_text("utf-8")


def whole(
    title: str,
    body: Part,
    *,
    style: str,
    scripts: Sequence[str],
    lazy: bool = False,
) -> str:
    """The page as one HTML text that needs no other file and no network.

    lazy: a chart is drawn when it comes near; for pages with many of them.
    """
    said: Data = {
        "charts": body.charts,
        "sliders": {
            name: {"words": list(one.words), "start": one.start}
            for name, one in body.sliders.items()
        },
        "lazy": lazy,
    }
    last = [
        tag("script", raw(embedded(said)), type="application/json", id="page-data"),
        *(tag("script", raw(script)) for script in scripts),
    ]
    page = tag("html", _head(title, style, scripts), tag("body", body.html, *last), lang="en")
    return f"<!doctype html>\n{page}\n"


def _head(title: str, style: str, scripts: Sequence[str]) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(scripts)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", raw(style)),
    )


def policy(scripts: Sequence[str]) -> str:
    """A content security policy that allows these scripts, inline styles, and nothing else."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    # Styles are 'unsafe-inline' because Plotly sets them on its elements; images are what a
    # chart is saved as.
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def frame(header: Markup, content: Markup) -> Markup:
    """Header and content, with the places for a word's meaning and for what is said aloud."""
    tip = tag("div", id="tip", role="tooltip", hidden=True)
    live = tag("div", id="said", class_="visually-hidden", aria_live="polite")
    return join([header, tag("main", content, id="main"), tip, live])


def header(
    brand: str,
    title: Child,
    about: Sequence[Child],
    links: Mapping[str, str],
    skip: tuple[str, str],
) -> Markup:
    """Title, what the page is about, and links to its sections by their id.

    skip: words and section of the link that jumps over the header.
    """
    return tag(
        "header",
        tag("a", skip[0], href=f"#{skip[1]}", class_="skip"),
        tag("p", brand, class_="brand"),
        tag("button", "Dark", type="button", id="theme", aria_pressed="false"),
        tag("h1", title),
        *(tag("p", one, class_="muted") for one in about),
        tag(
            "nav",
            *(tag("a", word, href=f"#{name}") for name, word in links.items()),
            aria_label="Sections",
        ),
    )


def command(text: str, name: str = "reproduce") -> Markup:
    """A command with a button that copies it."""
    button = tag("button", "Copy", type="button", class_="copy", data_copy=name)
    return tag("div", tag("pre", code(text), id=name, tabindex="0"), button, class_="command")


def facts(rows: Sequence[tuple[Child, Child]]) -> Markup:
    """Names with their values."""
    inside = [tag("div", tag("dt", name), tag("dd", value)) for name, value in rows]
    return tag("dl", *inside, class_="assumed")
