"""`nbyt report`: the page of a stored advice, made anew."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nbyt.cli.common import Common
from nbyt.cli.output import Outcome, show
from nbyt.report.page import write_page
from nbyt.store.advice import PAGE, read_advice


def run(
    folder: Path,
    *,
    out: Path | None = None,
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Rebuild the page from stored results; nothing is trained or measured.

    Parameters
    ----------
    folder
        The folder that `nbyt advise` wrote.
    out
        The file to write; without, report.html in that folder.
    """
    data = read_advice(folder)
    target = (out or folder / PAGE).resolve()
    write_page({**data, "report": str(target)}, target)
    if not common.json:
        show(str(target))
    return Outcome({"report": str(target), "env": data["env"], "batch": data["batch"]})
