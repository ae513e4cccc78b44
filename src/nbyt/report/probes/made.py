"""How it was made: the training's settings, what was taken for independent, and warnings."""

import json
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from nbyt.report.page.element import Child, Markup, bullets, join, tag
from nbyt.report.page.part import section
from nbyt.report.page.shell import facts
from nbyt.report.study.number import short
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


def made_section(data: Data) -> Markup:
    """Facts by what they are about; what is not known is left out."""
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
    return section("made", "How it was made", None, join(content))


def _group(title: str, known: Mapping[str, Any]) -> Markup | None:
    rows: list[tuple[Child, Child]] = [
        (str(name), _plain(value)) for name, value in known.items() if value is not None
    ]
    return join([tag("h3", title), facts(rows)]) if rows else None


def _plain(value: Any) -> str:
    """A plain value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _probes(data: Data) -> dict[str, Any]:
    """How often it was measured, what for independent was taken, and how long that took."""
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
    """What was treated as independent."""
    units = record["units"]
    if units["whole"]:
        return f"{units['count']:,} whole env streams of {units['steps']:,} steps"
    return (
        f"{units['count']:,} pieces of env streams, {units['steps']:,} steps each: pieces of one "
        "stream may be alike, so intervals are approximate"
    )


def _warnings(records: Sequence[Data]) -> Markup | None:
    """Every warning once, with the updates at which it was given."""
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
