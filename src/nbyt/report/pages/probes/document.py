"""The page of a probed training: its sections in order, and the facts about it."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from msgspec import to_builtins

from nbyt.report.html.element import Child, Markup, bullets, join, tag
from nbyt.report.html.page import Page, Part, section, titled_facts
from nbyt.report.numbers import short
from nbyt.report.pages.probes.minibatches import minibatch_section
from nbyt.report.pages.probes.now import now_section
from nbyt.report.pages.probes.records import unknown_section
from nbyt.report.pages.probes.truth import truth_section
from nbyt.report.pages.probes.variance import variance_section, worth_section
from nbyt.results.probes import ProbedTraining, ProbeRecord, Units
from nbyt.results.values import Layout, Machine, given

_LAYOUT = {
    "envs": "envs",
    "steps": "steps",
    "batch": "batch",
    "minibatch": "mini-batch",
    "minibatches": "mini-batches",
    "epochs": "epochs",
}
_TRAINING = ("library", "algorithm", "env", "advantages")
_NAMED = 8  # updates that are named one by one


def made_section(training: ProbedTraining) -> Part:
    """List facts by what they are about; what is not known is left out."""
    layout = training.layout
    groups: dict[str, Mapping[str, Any]] = {
        "Training": {key: getattr(training, key) for key in _TRAINING},
        "Layout": {word: getattr(layout, key, None) for key, word in _LAYOUT.items()},
        "Settings": training.settings or {},
        "Weights": training.parameters or {},
        "Probes": _probes(training),
        "Machine": to_builtins(training.machine) if isinstance(training.machine, Machine) else {},
        "Versions": training.versions or {},
    }
    content = [_warnings(training.records), *(_group(*group) for group in groups.items())]
    return section("made", "How it was made", None, *content, link="How it was made")


def _group(title: str, facts: Mapping[str, Any]) -> Markup | None:
    rows: list[tuple[Child, Child]] = [
        (name, _text(value)) for name, value in facts.items() if given(value)
    ]
    return titled_facts(title, rows)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _probes(training: ProbedTraining) -> dict[str, Any]:
    """Say how often it was measured, which units are independent, and how long a probe took."""
    records, facts = training.records, {}
    if training.every:
        facts["measured"] = f"every {training.every:,} updates"
    facts["records"] = f"{len(records):,}"
    if records:
        facts["independent"] = "; ".join(dict.fromkeys(_units(one.units) for one in records))
        seconds = [record.seconds for record in records]
        ends = f"{short(min(seconds), 2)} to {short(max(seconds), 2)}"
        facts["seconds of one"] = f"{short(median(seconds), 2)} in the middle, from {ends}"
    return facts


def _units(units: Units) -> str:
    """Describe the units that were treated as independent."""
    if units.whole:
        return f"{units.count:,} whole env streams of {units.steps:,} steps"
    return (
        f"{units.count:,} pieces of env streams, {units.steps:,} steps each: pieces of one "
        "stream may be alike, so intervals are approximate"
    )


def _warnings(records: Sequence[ProbeRecord]) -> Markup | None:
    """List every warning once, with its updates."""
    found: dict[str, list[int]] = {}
    for record in records:
        for text in record.warnings:
            found.setdefault(text, []).append(record.update)
    if not found:
        return None
    said = bullets(f"{text} ({_updates(updates)})" for text, updates in found.items())
    return join([tag("h3", "Warnings"), said])


def _updates(updates: Sequence[int]) -> str:
    if len(updates) > _NAMED:
        return f"at {len(updates):,} updates from {updates[0]:,} to {updates[-1]:,}"
    return f"at update {', '.join(f'{update:,}' for update in updates)}"


_SECTIONS = (now_section, variance_section, worth_section, minibatch_section, truth_section)


def probes_page(training: ProbedTraining) -> Page:
    """Build the page of a probed training."""
    about, sections = [_trained(training)], [_nothing_yet(training)]
    if training.records:
        count, last = len(training.records), training.records[-1].update
        probes = "1 probe" if count == 1 else f"{count:,} probes, the last"
        about.append(f"{probes} at update {last:,}")
        sections = [build(training) for build in _SECTIONS]
    return Page(
        kind="probes",
        title=training.title,
        brand="nbyt",
        heading=training.title,
        about=about,
        skip="Skip to the last probe",
        sections=[*sections, made_section(training)],
    )


def _nothing_yet(training: ProbedTraining) -> Part:
    often = f" A probe is made every {training.every:,} updates." if training.every else ""
    return unknown_section("now", "Now", f"Nothing was measured yet.{often}", link="Now")


def _trained(training: ProbedTraining) -> str:
    """Describe algorithm, env and layout as far as they are known."""
    said = [training.library, training.algorithm, training.env]
    layout = training.layout
    if isinstance(layout, Layout):
        said.append(f"{layout.envs:,} envs × {layout.steps:,} steps")
        said += [f"mini-batches of {layout.minibatch:,}", f"{layout.epochs:,} epochs"]
    return ", ".join(str(part) for part in said if part)
