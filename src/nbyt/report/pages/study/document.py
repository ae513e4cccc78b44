"""The page of a study: the table of claims, a section for each topic, how to reproduce it."""

from pathlib import Path

from nbyt.report.html.element import Child, tag
from nbyt.report.html.page import Page, Part, command, section, titled_facts
from nbyt.report.pages.study.claims import claim_part, overview_section
from nbyt.results.values import Data
from nbyt.store.text import slug


def render_study(data: Data) -> str:
    """Return the page of a study as HTML."""
    return _page(data).html()


def write_study_page(data: Data, path: Path) -> None:
    """Write the page; `path` holds all of it, or what it held before."""
    _page(data).write(path)


def _page(data: Data) -> Page:
    names = _names([claim["id"] for claim in data["claims"]], "claim")
    named = list(zip(data["claims"], names, strict=True))
    topics = list(dict.fromkeys(claim["topic"] for claim in data["claims"]))
    ids = _names(topics, "topic")
    about: list[Child] = [
        tag("span", data["lead"], class_="about"),
        f"{len(data['claims'])} claims, effort {data['effort']}, seed {data['seed']}",
    ]
    return Page(
        kind="study",
        title=data["title"],
        brand=f"nbyt reproduce {data['study']}",
        heading=data["title"],
        about=about,
        skip="Skip to the claims",
        sections=[
            overview_section(data, names),
            *(_topic(topic, name, named) for topic, name in zip(topics, ids, strict=True)),
            _made(data),
        ],
    )


def _names(texts: list[str], prefix: str) -> list[str]:
    """Return an id for each text; a repeated text gets a number."""
    found: list[str] = []
    for text in texts:
        name = f"{prefix}-{slug(text)}"
        found.append(name if name not in found else f"{name}-{len(found)}")
    return found


def _topic(topic: str, name: str, named: list[tuple[Data, str]]) -> Part:
    parts = [claim_part(claim, its_id) for claim, its_id in named if claim["topic"] == topic]
    return section(name, topic, None, *parts, link=topic)


def _made(data: Data) -> Part:
    machine = data.get("machine") or {}
    rows: list[tuple[Child, Child]] = [
        ("effort", str(data["effort"])),
        ("seed", str(data["seed"])),
        *((str(name), str(value)) for name, value in machine.items()),
    ]
    versions: list[tuple[Child, Child]] = [
        (str(name), str(value)) for name, value in (data.get("versions") or {}).items()
    ]
    content = [
        command(str(data["reproduce"])),
        titled_facts("Machine", rows),
        titled_facts("Versions", versions),
    ]
    lead = "The same command, versions and seed give the same numbers; only seconds differ."
    return section("made", "How it was made", lead, *content, link="How it was made")
