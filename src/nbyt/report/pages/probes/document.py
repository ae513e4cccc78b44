"""The page of a probed training: its sections in order, and the facts about it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from nbyt.report.html.element import Child, Markup, bullets, join, tag
from nbyt.report.html.page import Page, Part, section, titled_facts
from nbyt.report.numbers import short
from nbyt.report.pages.probes.minibatches import minibatch_section
from nbyt.report.pages.probes.now import now_section
from nbyt.report.pages.probes.records import unknown_section
from nbyt.report.pages.probes.truth import truth_section
from nbyt.report.pages.probes.variance import variance_section, worth_section
from nbyt.results.values import Data

_LAYOUT = {
    "envs": "envs",
    "steps": "steps",
    "batch": "batch",
    "minibatch": "mini-batch",
    "minibatches": "mini-batches",
    "epochs": "epochs",
}
_NAMED = 8  # updates that are named one by one


def made_section(data: Data) -> Part:
    """List facts by what they are about; what is not known is left out."""
    layout = data.get("layout") or {}
    groups: dict[str, Mapping[str, Any]] = {
        "Training": {key: data.get(key) for key in ("library", "algorithm", "env", "advantages")},
        "Layout": {word: layout.get(key) for key, word in _LAYOUT.items()},
        "Settings": data.get("settings") or {},
        "Weights": data.get("parameters") or {},
        "Probes": _probes(data),
        "Machine": data.get("machine") or {},
        "Versions": data.get("versions") or {},
    }
    content = [_warnings(data["records"]), *(_group(title, own) for title, own in groups.items())]
    return section("made", "How it was made", None, *content, link="How it was made")


def _group(title: str, known: Mapping[str, Any]) -> Markup | None:
    rows: list[tuple[Child, Child]] = [
        (str(name), _plain(value)) for name, value in known.items() if value is not None
    ]
    return titled_facts(title, rows)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _probes(data: Data) -> dict[str, Any]:
    """Say how often it was measured, which units are independent, and how long a probe took."""
    records = data["records"]
    every = data.get("every")
    seconds = [one["seconds"] for one in records if one.get("seconds") is not None]
    found: dict[str, Any] = {"measured": None if every is None else f"every {every:,} updates"}
    found["records"] = len(records)
    found["independent"] = "; ".join(dict.fromkeys(map(_units, records))) or None
    if seconds:
        ends = f"{short(min(seconds), 2)} to {short(max(seconds), 2)}"
        found["seconds of one"] = f"{short(median(seconds), 2)} in the middle, from {ends}"
    return found


def _units(record: Data) -> str:
    """Describe the units that were treated as independent."""
    units = record["units"]
    if units["whole"]:
        return f"{units['count']:,} whole env streams of {units['steps']:,} steps"
    return (
        f"{units['count']:,} pieces of env streams, {units['steps']:,} steps each: pieces of one "
        "stream may be alike, so intervals are approximate"
    )


def _warnings(records: Sequence[Data]) -> Markup | None:
    """List every warning once, with its updates."""
    found: dict[str, list[int]] = {}
    for record in records:
        for text in record.get("warnings") or []:
            found.setdefault(text, []).append(record["update"])
    if not found:
        return None
    said = bullets(f"{text} ({_updates(given)})" for text, given in found.items())
    return join([tag("h3", "Warnings"), said])


def _updates(given: Sequence[int]) -> str:
    if len(given) > _NAMED:
        return f"at {len(given):,} updates from {given[0]:,} to {given[-1]:,}"
    return f"at update {', '.join(f'{one:,}' for one in given)}"


_SECTIONS = (now_section, variance_section, worth_section, minibatch_section, truth_section)


def render_probes(data: Data) -> str:
    """Return the page of a probed training as HTML."""
    return _page(data).html()


def write_probes_page(data: Data, path: Path) -> None:
    """Write the page; `path` holds all of it, or what it held before."""
    _page(data).write(path)


def _page(data: Data) -> Page:
    about, sections = [_trained(data)], [_nothing_yet(data)]
    if data["records"]:
        count, last = len(data["records"]), data["records"][-1]["update"]
        probes = "1 probe" if count == 1 else f"{count:,} probes, the last"
        about.append(f"{probes} at update {last:,}")
        sections = [build(data) for build in _SECTIONS]
    return Page(
        kind="probes",
        title=data["title"],
        brand="nbyt",
        heading=data["title"],
        about=about,
        skip="Skip to the last probe",
        sections=[*sections, made_section(data)],
    )


def _nothing_yet(data: Data) -> Part:
    every = data.get("every")
    often = "" if every is None else f" A probe is made every {every:,} updates."
    return unknown_section("now", "Now", f"Nothing was measured yet.{often}", link="Now")


def _trained(data: Data) -> str:
    """Describe algorithm, env and layout as far as they are known."""
    layout = data.get("layout") or {}
    said = [data.get(key) for key in ("library", "algorithm", "env")]
    if layout.get("envs") and layout.get("steps"):
        said.append(f"{layout['envs']:,} envs × {layout['steps']:,} steps")
    if layout.get("minibatch"):
        said.append(f"mini-batches of {layout['minibatch']:,}")
    if layout.get("epochs"):
        said.append(f"{layout['epochs']:,} epochs")
    return ", ".join(str(one) for one in said if one)
