"""`nbyt translate`: the same layout in another library's words."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from nbyt.cli.common import Common
from nbyt.cli.output import Outcome, facts_table, show, show_verbatim, talk, warn
from nbyt.cli.sides import remarks, side
from nbyt.dialects import describing
from nbyt.dialects.dialect import load
from nbyt.dialects.translating import Translation, translated
from nbyt.store.text import plain


def run(
    source: str,
    target: str,
    *settings: str,
    file: Path | None = None,
    entry: str | None = None,
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Say a layout in another library's words, and what cannot be made equal.

    Parameters
    ----------
    source
        The library whose settings are given.
    target
        The library to translate to.
    settings
        Names and values of the source, as key=value.
    file
        Read settings from this file: a command line, YAML or JSON; those given here win.
    entry
        Which entry of the file, where it has several.
    """
    wanted = load(target)
    explanation = side(source, settings, file, entry)
    warnings = remarks(explanation)
    warn(talk(quiet=common.quiet), warnings)
    found = translated(explanation, wanted)
    if not common.json:
        _show(found)
    return Outcome(found.as_dict(), warnings)


def _show(found: Translation) -> None:
    rows = [("from", found.source), ("to", found.target)]
    names = [(word, describing.title(side.dialect)) for word, side in rows]
    show(facts_table([*names, ("layout", describing.grid(found.target.reading))]), "")
    show_verbatim(found.paste)
    show("")
    if found.is_exact:
        show(Text("the layout is the same", style="green"))
    for difference in found.differences:
        kind = (
            Text("lost ", style="bold red") if difference.loss else Text("differs ", style="bold")
        )
        show(kind + Text(plain(difference.message)))
    for trap in found.target.traps:
        show(Text(f"trap {trap.code}: ", style="bold yellow") + Text(plain(trap.message)))
