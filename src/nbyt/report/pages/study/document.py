"""The page of a study: the table of claims, a section for each topic, how to reproduce it."""

from collections.abc import Sequence

from msgspec import to_builtins

from nbyt.report.html.element import Child, tag
from nbyt.report.html.page import Page, Part, command, section, titled_facts
from nbyt.report.pages.study.claims import claim_part, findings_section, overview_section
from nbyt.results.study import JudgedClaim, Study
from nbyt.results.values import Machine
from nbyt.store.text import slug


def study_page(data: Study) -> Page:
    """Build the page of a study."""
    names = _names([claim.id for claim in data.claims], "claim")
    named = list(zip(data.claims, names, strict=True))
    by_id = {claim.id: name for claim, name in named}
    topics = list(dict.fromkeys(claim.topic for claim in data.claims))
    ids = _names(topics, "topic")
    about: list[Child] = [
        tag("span", data.lead, class_="about"),
        f"{len(data.claims)} statements, effort {data.effort}, seed {data.seed}",
    ]
    return Page(
        kind="study",
        title=data.title,
        brand=f"nbyt reproduce {data.study}",
        heading=data.title,
        about=about,
        skip="Skip to the claims",
        sections=[
            *([findings_section(data, by_id)] if data.findings else []),
            overview_section(data, names),
            *(_topic(topic, name, named) for topic, name in zip(topics, ids, strict=True)),
            _made(data),
        ],
    )


def _names(texts: Sequence[str], prefix: str) -> list[str]:
    """Return an id for each text; a repeated text gets a number."""
    found: list[str] = []
    for text in texts:
        name = f"{prefix}-{slug(text)}"
        found.append(name if name not in found else f"{name}-{len(found)}")
    return found


def _topic(topic: str, name: str, named: Sequence[tuple[JudgedClaim, str]]) -> Part:
    parts = [claim_part(claim, its_id) for claim, its_id in named if claim.topic == topic]
    return section(name, topic, None, *parts, link=topic)


def _made(data: Study) -> Part:
    machine = to_builtins(data.machine) if isinstance(data.machine, Machine) else {}
    rows = {"effort": data.effort, "seed": data.seed, **machine}
    content = [
        command(data.reproduce),
        titled_facts("Machine", [(name, str(value)) for name, value in rows.items()]),
        titled_facts("Versions", [(name, str(v)) for name, v in (data.versions or {}).items()]),
    ]
    lead = "The same command, versions and seed give the same numbers; only seconds differ."
    return section("made", "How it was made", lead, *content, link="How it was made")
