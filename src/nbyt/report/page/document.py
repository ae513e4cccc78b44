"""The whole page of an advice: its sections in order."""

from pathlib import Path

from nbyt.report.page.assets import behaviour, plotly_script, style
from nbyt.report.page.element import Markup, join, tag
from nbyt.report.page.part import Part, merged
from nbyt.report.page.sections.answer import answer_section
from nbyt.report.page.sections.assumptions import assumption_sections
from nbyt.report.page.sections.closer import closer_sections
from nbyt.report.page.sections.cost import cost_section
from nbyt.report.page.sections.ranking import ranking_section
from nbyt.report.page.sections.stages import stage_bar
from nbyt.report.page.sections.tradeoff import tradeoff_section
from nbyt.report.page.sections.variance import variance_section
from nbyt.report.page.sections.wording import deciding_words
from nbyt.report.page.shell import frame, header, whole
from nbyt.results.values import Data
from nbyt.store.atomic import write_text

_LINKS = {
    "answer": "Answer",
    "ranking": "Ranking",
    "tradeoff": "Trade-off",
    "variance": "Variance",
    "bias": "Bias",
    "closer": "Closer look",
    "sources": "Sources",
    "map": "T and lambda",
    "cost": "Cost",
    "assumed": "Assumptions",
    "glossary": "Words",
}


def render(data: Data) -> str:
    """The page of an advice as one HTML text that needs no other file and no network."""
    return whole(
        f"N by T: {data['env']}, batch {data['batch']}",
        _body(data),
        style=style(),
        scripts=[plotly_script(), behaviour()],
    )


def write_page(data: Data, path: Path) -> None:
    """Nothing; `path` then holds the page, or what it held before."""
    write_text(path, render(data))


def _body(data: Data) -> Part:
    staged = merged([tradeoff_section(data), variance_section(data)])
    bar = stage_bar(data)
    middle = tag("div", bar.html, staged.html, class_="by-stage")
    parts = [
        answer_section(data),
        ranking_section(data),
        Part(middle, staged.charts, bar.sliders),
        closer_sections(data),
        cost_section(data),
        assumption_sections(data),
    ]
    content = merged(parts)
    return content.inside(frame(_header(data, content.html), content.html))


def _header(data: Data, content: Markup) -> Markup:
    present = {name: word for name, word in _LINKS.items() if f'<section id="{name}"' in content}
    about = (
        f"A batch of {data['batch']:,} samples, decided by {deciding_words(data)}, "
        f"effort {data['effort']}, seed {data['seed']}"
    )
    title = join(["How to split the batch on ", tag("span", data["env"], class_="env")])
    return header("nbyt advise", title, [about], present, ("Skip to the answer", "answer"))
