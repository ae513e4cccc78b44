"""A part of the page: its HTML, and the charts and sliders that belong to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbyt.report.page.element import Child, Markup, join, tag
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
