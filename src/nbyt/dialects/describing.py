"""Describe readings in plain words: pairs of a name and a sentence, for a terminal or a page."""

from dataclasses import asdict
from html import escape
from typing import Any

from nbyt.dialects import vocabulary
from nbyt.dialects.dialect import Dialect, Rules
from nbyt.dialects.missing import MissingSettingsError
from nbyt.dialects.reading import Reading
from nbyt.dialects.sizes import Cut


def table(title: str, rows: list[tuple[str, str]]) -> str:
    """Return an HTML table of two columns under a title."""
    lines = [
        f"<tr><th style='text-align:left;vertical-align:top'>{escape(name)}</th>"
        f"<td style='text-align:left;white-space:pre-wrap'>{escape(text)}</td></tr>"
        for name, text in rows
    ]
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"


Facts = list[tuple[str, str]]


def text(title: str, rows: Facts) -> str:
    """Return the rows as lines below a title."""
    wide = max((len(name) for name, _ in rows), default=0)
    return "\n".join([title, *(f"{name:<{wide}}  {words}".rstrip() for name, words in rows)])


def title(dialect: Dialect) -> str:
    """Name the library, its algorithm and the version that was read."""
    return f"{dialect.library}, {dialect.algorithm}, as of {dialect.version}"


def facts(reading: Reading) -> Facts:
    """Describe some settings in full, except for traps."""
    return [*_layout(reading), *_schedule(reading), *_rules(reading.rules), *_filled(reading)]


def partial_facts(error: MissingSettingsError) -> Facts:
    """Describe what is known of settings that are not enough, and all that they lack."""
    found, values = error.partial(), error.given.values
    told = [("so far", assigned(values))] if values else []
    told += [("known", sentence) for sentence in found["says"]]
    lacking = [(one["key"], f"{one['meaning']}: {one['where']}") for one in found["missing"]]
    return [*told, *_rules(error.given.rules), *((f"missing {key}", why) for key, why in lacking)]


def rules(its: Rules) -> dict[str, dict[str, str]]:
    """Return rules, each as a code and a sentence."""
    sentences = {
        "collect": (its.collect, vocabulary.COLLECT[its.collect]),
        "ragged": (its.ragged, vocabulary.RAGGED[its.ragged]),
        "mixing": (its.mixing, vocabulary.sentence_of_mixing(its.mixing, reshuffle=its.reshuffle)),
        "normalise": (its.normalise, vocabulary.NORMALISE[its.normalise]),
        "time_limits": (its.time_limits, vocabulary.TIME_LIMITS[its.time_limits]),
        "updates": (its.updates, vocabulary.UPDATES[its.updates]),
        "total": (its.total, vocabulary.TOTAL[its.total]),
    }
    return {name: {"code": code, "text": text} for name, (code, text) in sentences.items()}


def pieces(cut: Cut) -> str:
    """List sizes of mini-batches, equal ones together: 15 of 64, then 1 of 40."""
    return ", then ".join(f"{count:,} of {size:,}" for size, count in cut.runs) or "none"


def grid(reading: Reading) -> str:
    """Write N x T, and the samples that it holds."""
    size = reading.sizes
    shape = f"{_counted(size.envs, 'env')} x {_counted(size.steps, 'step')}"
    even = size.envs * size.steps == size.batch
    return f"{shape} = {size.batch:,} samples" if even else f"{shape}, {size.batch:,} samples of it"


def described(dialect: Dialect) -> dict[str, Any]:
    """Return a dialect as plain data."""
    return {
        "id": dialect.id,
        "library": dialect.library,
        "algorithm": dialect.algorithm,
        "version": dialect.version,
        "read_on": dialect.read_on,
        "live": dialect.live,
        "source": list(dialect.source),
        "words": {word: list(keys) for word, keys in dialect.words.items()},
        "learning": dict(dialect.learning),
        "derived": dict(dialect.derived),
        "aliases": dict(dialect.aliases),
        "defaults": dict(dialect.defaults),
        "presets": {name: dict(values) for name, values in dialect.presets.items()},
        "rules": rules(dialect.rules),
        "replay": asdict(dialect.replay) if dialect.replay else None,
        "notes": list(dialect.notes),
    }


def _layout(reading: Reading) -> Facts:
    size = reading.sizes
    rows = [("rollout buffer", grid(reading))]
    if size.fragment != size.steps:
        rows.append(("advantages", f"computed over fragments of {size.fragment:,} steps"))
    over = "an update" if reading.cut.whole_update else "an epoch"
    rows.append(("mini-batches", f"{pieces(reading.cut)} {over}"))
    rows.append(("epochs", f"{size.epochs:,} pass{'es' if size.epochs > 1 else ''} over the batch"))
    return rows


def _schedule(reading: Reading) -> Facts:
    steps, updates = reading.gradient_steps_per_update, reading.updates
    uses = f"each sample used {reading.uses_per_sample:.4g} times"
    rows = [("an update", f"{steps:,} gradient steps; {uses}")]
    if reading.cut.count:
        samples = amount(reading.cut.samples / reading.cut.count)
        rows.append(("a gradient step", f"{samples} samples"))
    if updates is None:
        key = reading.dialect.key("total")
        return [*rows, ("the run", f"unknown length: add {key}=" if key else "unknown length")]
    run = f"{updates:,} updates, {updates * steps:,} gradient steps"
    return [*rows, ("the run", f"{run}, in {reading.total_steps:,} steps")]


def _rules(its: Rules) -> Facts:
    found = rules(its)
    ragged = found["ragged"]["text"]
    if its.ragged not in ("full_batch", "unread"):
        says = its.ragged_says
        ragged = f"{ragged} ({'silently' if says == 'nothing' else says})"
    return [
        ("with more envs", found["collect"]["text"]),
        ("remainder", ragged),
        ("mixing", found["mixing"]["text"]),
        ("time limits", found["time_limits"]["text"]),
        ("advantages are", found["normalise"]["text"]),
    ]


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _filled(reading: Reading) -> Facts:
    rows = []
    filled = reading.settings.filled
    if filled:
        rows.append(("filled in", assigned(filled)))
    if reading.settings.ignored:
        rows.append(("ignored", ", ".join(reading.settings.ignored)))
    return rows


def amount(number: float) -> str:
    """Write a number of samples: whole if it is, else with one decimal."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.1f}"


def assigned(values: Any) -> str:
    """Write settings as key=value, separated by spaces."""
    return " ".join(f"{key}={value}" for key, value in values.items())
