"""The whole page of a study: the table of claims, a section for each topic, how it was made."""

from pathlib import Path

from nbyt.report.html.element import Child, Markup, join, tag
from nbyt.report.html.page import (
    Part,
    behaviour,
    command,
    facts,
    frame,
    header,
    merged,
    plotly_script,
    section,
    study_style,
    style,
    whole,
)
from nbyt.report.pages.study.claims import claim_part, overview_section
from nbyt.results.values import Data
from nbyt.store.atomic import write_text
from nbyt.store.text import slug


def render_study(data: Data) -> str:
    """The page of a study as one HTML text that needs no other file and no network."""
    return whole(
        data["title"],
        _body(data),
        style=style() + study_style(),
        scripts=[plotly_script(), behaviour()],
        lazy=True,
    )


def write_study_page(data: Data, path: Path) -> None:
    """Nothing; `path` then holds the page, or what it held before."""
    write_text(path, render_study(data))


def _body(data: Data) -> Part:
    names = _names([claim["id"] for claim in data["claims"]], "claim")
    named = list(zip(data["claims"], names, strict=True))
    topics = list(dict.fromkeys(claim["topic"] for claim in data["claims"]))
    ids = _names(topics, "topic")
    parts = [
        Part(overview_section(data, names)),
        *(_topic(topic, own, named) for topic, own in zip(topics, ids, strict=True)),
        Part(_made(data)),
    ]
    content = merged(parts)
    links = {"claims": "Claims", **dict(zip(ids, topics, strict=True)), "made": "How it was made"}
    return content.inside(frame(_header(data, links), content.html))


def _names(texts: list[str], prefix: str) -> list[str]:
    """An id for each text; a text that comes again gets a number."""
    found: list[str] = []
    for text in texts:
        name = f"{prefix}-{slug(text)}"
        found.append(name if name not in found else f"{name}-{len(found)}")
    return found


def _header(data: Data, links: dict[str, str]) -> Markup:
    about: list[Child] = [
        tag("span", data["lead"], class_="about"),
        f"{len(data['claims'])} claims, effort {data['effort']}, seed {data['seed']}",
    ]
    brand = f"nbyt reproduce {data['study']}"
    return header(brand, data["title"], about, links, ("Skip to the claims", "claims"))


def _topic(topic: str, name: str, named: list[tuple[Data, str]]) -> Part:
    inside = merged(claim_part(claim, own) for claim, own in named if claim["topic"] == topic)
    return inside.inside(section(name, topic, None, inside.html))


def _made(data: Data) -> Markup:
    """The command that does it again, and what it was done with."""
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
        tag("h3", "Machine"),
        facts(rows),
        tag("h3", "Versions") if versions else None,
        facts(versions) if versions else None,
    ]
    lead = "The same command, versions and seed give the same numbers; only seconds differ."
    return section("made", "How it was made", lead, join(content))
