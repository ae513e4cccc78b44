"""An advice as lines and tables for a terminal of 80 columns."""

import re
import textwrap

from msgspec import UNSET
from rich.console import RenderableType
from rich.table import Table

from nbyt.report.advice_words import (
    SAME,
    chance_words,
    marks,
    others_words,
    part_words,
    rests_words,
    track_words,
)
from nbyt.report.numbers import WIDTH, layout_name, percent
from nbyt.report.tables import filled
from nbyt.results.advice import Advice, Goal, LayoutLoss
from nbyt.store.text import plain

_INDENT = "  "
# Words that stay on one line: an interval with its unit, and the names after "T =".
_WHOLE = re.compile(
    r"(?:[~\d.,]+ % )?\[[^\][]{1,24}\]|[\d.,]+ (?:%|x|s|min|h)\b|[\d.,]+ %|T [=<]+ \d+"
)
_MOST_DEFAULTS = 2


def summary(record: Advice) -> list[RenderableType]:
    """Return what `nbyt advise` prints: answer, layouts, reasons, and what it rests on."""
    shown: list[RenderableType] = [*_answers(record), "", layout_table(record), ""]
    shown += _legend(record)
    reasons = _reasons(record)
    if reasons:
        shown += ["", *(line for reason in reasons for line in _wrapped(f"- {reason}"))]
    return [*shown, "", *_grounds(record)]


def answer_lines(record: Advice) -> list[str]:
    """Return the answer without its table: the verdict first, and last what it rests on."""
    return [*_answers(record), *_grounds(record)]


def layout_table(record: Advice) -> Table:
    """Show what every layout is expected to lose, by its T."""
    layouts = sorted(record.layouts, key=lambda one: one.steps)
    known = any(one.within_5 is not None for one in layouts)
    heads = ["N x T", "expected loss", "trained", "an update", ""]
    rows = [_row(record, one) for one in layouts]
    if known:
        heads.insert(2, "P(<= 5 %)")
        for cells, one in zip(rows, layouts, strict=True):
            cells.insert(2, "-" if one.within_5 is None else chance_words(one.within_5))
    return filled(f"layouts, {SAME[record.objective]}", heads, rows, padding=2)


def facts(record: Advice) -> list[tuple[str, str]]:
    """Return what the advice is about, as names and values."""
    costs = f", costs: {record.costs_from}" if record.costs_from else ""
    return [
        ("env", f"{record.env}, batch {record.batch:,}, {record.total:,} steps in all"),
        ("compared", f"{SAME[record.objective]}{costs}"),
        ("learning", f"gamma {record.gamma:g}, lambda {record.lam:g}, seed {record.seed}"),
    ]


def change_lines(record: Advice) -> list[str]:
    """Return what changes in the user's own settings, in the words of their library."""
    own = next((one for one in record.settings if one.changes is not UNSET), None)
    if own is None:
        return []
    said = own.paste or "nothing changes: it is what you have"
    return f"in {own.library}: {said}".replace(": ", ":\n", "\n" in said).split("\n")


def _answers(record: Advice) -> list[str]:
    """Return the verdict, what the other T lose, the other goal, and the user's own layout."""
    others = others_words(record)
    lines = [
        *_wrapped(record.answer.sentence),
        *(_wrapped(others, _INDENT) if others else []),
        *_wrapped(_other_goal(record)),
    ]
    return lines + (_wrapped(record.current.sentence) if record.current else [])


def _other_goal(record: Advice) -> str:
    other: Goal = "samples" if record.objective == "time" else "time"
    answer = record.advice.of(other)
    if answer is None:
        return "For the same time: ask with --objective time."
    return answer.sentence


def _grounds(record: Advice) -> list[str]:
    """Return what the answer rests on, and the track record."""
    track = track_words(record)
    return [*_wrapped(rests_words(record)), *(_wrapped(track) if track else [])]


def _legend(record: Advice) -> list[str]:
    """Explain the star, the intervals, and what was trained."""
    lines = ["* advised   [95 % interval]"]
    if record.race is not None:
        lines[0] += f"   trained: {part_words(record.race)}"
    if not all(one.trainings for one in record.layouts):
        lines.append("- not trained: the loss follows from other layouts and the reference tasks")
    return lines


def _reasons(record: Advice) -> list[str]:
    """Return the reasons of all answers, those of the goal first, each once."""
    answers = [record.answer, record.advice.time, record.advice.samples]
    return list(dict.fromkeys(one for answer in answers if answer for one in answer.reasons))


def _row(record: Advice, one: LayoutLoss) -> list[str]:
    roles = marks(record, one)
    star = "*" if "advised" in roles else " "
    cost = "-" if one.update_cost is None else f"{one.update_cost:.2g} x"
    names = list(dict.fromkeys(one.defaults_of))[:_MOST_DEFAULTS]
    defaults = [f"default of {' and '.join(map(plain, names))}"] if names else []
    remark = ", ".join([*(role for role in roles if role != "advised"), *defaults])
    trainings = str(one.trainings or "-")
    lost = "-" if one.loss.value is None else percent(one.loss)
    return [f"{layout_name(one)}{star}", lost, trainings, cost, remark]


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Break a sentence between words, but never inside an interval."""
    kept = _WHOLE.sub(lambda found: found[0].replace(" ", "\0"), plain(text))
    width = WIDTH - 1
    lines = textwrap.wrap(
        kept,
        width,
        initial_indent=indent,
        subsequent_indent=indent + _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in lines]
