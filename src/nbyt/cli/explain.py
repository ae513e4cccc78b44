"""`nbyt explain`: the layout and the whole schedule behind another library's settings."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from nbyt.cli.common import Common
from nbyt.cli.output import Outcome, facts_table, show, talk, warn
from nbyt.cli.sides import remarks, side
from nbyt.dialects import describing
from nbyt.dialects.explaining import Explanation
from nbyt.dialects.traps import Trap
from nbyt.store.text import plain


def run(
    dialect: str,
    *settings: str,
    file: Path | None = None,
    entry: str | None = None,
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Explain another library's settings: layout, schedule, rules and traps.

    Parameters
    ----------
    dialect
        The library; `nbyt dialects` lists them.
    settings
        Its own names and values, as key=value; preset=NAME takes one of its own sets of defaults.
    file
        Read settings from this file: a command line, YAML or JSON; those given here win.
    entry
        Which entry of the file, where it has several.
    """
    explanation = side(dialect, settings, file, entry)
    warnings = remarks(explanation)
    warn(talk(quiet=common.quiet), warnings)
    if not common.json:
        show_explanation(explanation)
    return Outcome(explanation.as_dict(), warnings)


def show_explanation(explanation: Explanation) -> None:
    """Everything about some settings, for people."""
    show(Text(describing.title(explanation.dialect), style="bold"), "")
    show(facts_table(describing.facts(explanation.reading)), "")
    show_traps(explanation.traps)


def show_traps(traps: tuple[Trap, ...]) -> None:
    """Each trap with what to change."""
    if not traps:
        show(Text("no traps found", style="green"))
    for trap in traps:
        show(Text(f"trap {trap.code}: ", style="bold yellow") + Text(plain(trap.message)))
        show(Text(f"  fix: {plain(trap.fix)}"))
