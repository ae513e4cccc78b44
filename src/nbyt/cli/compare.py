"""`nbyt compare`: what changed between two settings, in terms that matter."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from nbyt.cli.common import Common
from nbyt.cli.output import Outcome, show, talk, warn
from nbyt.cli.sides import remarks, side
from nbyt.dialects import describing
from nbyt.dialects.comparing import Change, Comparison, compared
from nbyt.errors import UsageError
from nbyt.store.text import plain

_DIVIDER = "--"


def run(
    *words: Annotated[str, Parameter(allow_leading_hyphen=True)],
    file: list[Path] | None = None,
    entry: list[str] | None = None,
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Compare two settings: nbyt compare sb3 n_envs=8 -- sb3 n_envs=64.

    Parameters
    ----------
    words
        A library and its settings as key=value, then --, then another or the same.
    file
        Read settings from this file; once for the first side, a second time for the second.
    entry
        Which entry of the file, in the same order.
    """
    sides = _sides(words)
    files, entries = _two(file), _two(entry)
    before, after = (
        side(name, settings, path, chosen)
        for (name, *settings), path, chosen in zip(sides, files, entries, strict=True)
    )
    warnings = [*remarks(before), *remarks(after)]
    warn(talk(quiet=common.quiet), warnings)
    found = compared(before, after)
    if not common.json:
        _show(found)
    return Outcome(found.as_dict(), warnings)


def _sides(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands before and after the divider."""
    odd = [word for word in words if word.startswith("-") and word != _DIVIDER]
    if odd:
        raise UsageError(
            f"unknown option {odd[0]}", where="nbyt compare", fix="see `nbyt compare --help`"
        )
    place = words.index(_DIVIDER) if words.count(_DIVIDER) == 1 else 0
    before, after = words[:place], words[place + 1 :]
    if not before or not after:
        raise UsageError(
            "two settings are needed, with -- between them",
            where="nbyt compare",
            fix="nbyt compare sb3 n_envs=8 -- sb3 n_envs=64",
        )
    return before, after


def _two(given: list | None) -> list:
    """One value for each side; None where there is none."""
    found = list(given or [])
    if len(found) > 2:
        raise UsageError("more than two files or entries", where="nbyt compare", fix="give two")
    return [*found, None, None][:2]


def _show(found: Comparison) -> None:
    for word, explanation in (("before", found.before), ("after", found.after)):
        show(Text(f"{word:7}", style="bold") + Text(describing.title(explanation.dialect)))
        show(Text(f"{'':7}{describing.grid(explanation.reading)}"))
    show("", _table(found.changes), "")
    for finding in found.findings:
        show(Text("- ") + Text(plain(finding["message"])))
    for settings in found.equal_batch:
        show(Text("equal batch: ", style="bold") + Text(plain(describing.assigned(settings))))


def _table(changes: tuple[Change, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for name in ("before", "after", "factor"):
        table.add_column(name, justify="right")
    for change in changes:
        factor = "same" if change.is_same else f"x {change.factor:.4g}"
        table.add_row(change.name, f"{change.before:,.6g}", f"{change.after:,.6g}", factor)
    return table
