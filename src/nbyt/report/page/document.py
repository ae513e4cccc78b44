"""The whole page: sections in order, style and scripts inside, and a policy that allows no more."""

import base64
import hashlib
from functools import cache
from pathlib import Path

from nbyt.report.page.assets import behaviour, plotly_script, style
from nbyt.report.page.element import Markup, join, raw, tag
from nbyt.report.page.escape import embedded
from nbyt.report.page.part import Data, Part, merged
from nbyt.report.page.sections.answer import answer_section
from nbyt.report.page.sections.assumptions import assumption_sections
from nbyt.report.page.sections.closer import closer_sections
from nbyt.report.page.sections.cost import cost_section
from nbyt.report.page.sections.ranking import ranking_section
from nbyt.report.page.sections.stages import stage_bar, start_of, valuetext
from nbyt.report.page.sections.tradeoff import tradeoff_section
from nbyt.report.page.sections.variance import variance_section
from nbyt.report.page.sections.wording import gradient_words
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
    body = _body(data)
    scripts = [plotly_script(), behaviour()]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(scripts)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"N by T: {data['env']}, batch {data['batch']}"),
        tag("style", raw(style())),
    )
    said = {
        "charts": body.charts,
        "stages": [valuetext(stage) for stage in data["stages"]],
        "start": start_of(data),
    }
    last = [
        tag("script", raw(embedded(said)), type="application/json", id="page-data"),
        *(tag("script", raw(script)) for script in scripts),
    ]
    page = tag("html", head, tag("body", body.html, *last), lang="en")
    return f"<!doctype html>\n{page}\n"


def write_page(data: Data, path: Path) -> None:
    """Nothing; `path` then holds the page, or what it held before."""
    write_text(path, render(data))


def policy(scripts: list[str]) -> str:
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


def _body(data: Data) -> Part:
    staged = merged([tradeoff_section(data), variance_section(data)])
    middle = tag("div", stage_bar(data), staged.html, class_="by-stage")
    parts = [
        answer_section(data),
        ranking_section(data),
        Part(middle, staged.charts),
        closer_sections(data),
        cost_section(data),
        assumption_sections(data),
    ]
    whole = merged(parts)
    tip = tag("div", id="tip", role="tooltip", hidden=True)
    live = tag("div", id="said", class_="visually-hidden", aria_live="polite")
    main = tag("main", whole.html, id="main")
    return Part(join([_header(data, whole.html), main, tip, live]), whole.charts)


def _header(data: Data, content: Markup) -> Markup:
    present = {name: word for name, word in _LINKS.items() if f'<section id="{name}"' in content}
    links = [tag("a", word, href=f"#{name}") for name, word in present.items()]
    about = (
        f"A batch of {data['batch']:,} samples, the {gradient_words(data['objective'])}, "
        f"effort {data['effort']}, seed {data['seed']}"
    )
    return tag(
        "header",
        tag("a", "Skip to the answer", href="#answer", class_="skip"),
        tag("p", "nbyt advise", class_="brand"),
        tag("button", "Dark", type="button", id="theme", aria_pressed="false"),
        tag("h1", "How to split the batch on ", tag("span", data["env"], class_="env")),
        tag("p", about, class_="muted"),
        tag("nav", *links, aria_label="Sections"),
    )
