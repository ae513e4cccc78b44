"""`nbyt report`: rebuild the page of a stored advice, study, sweep or probed training."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from nbyt.cli.output import Common, Outcome, show
from nbyt.report.pages.advice import write_page
from nbyt.report.pages.probes import write_probes_page
from nbyt.report.pages.study import write_study_page
from nbyt.report.pages.sweep import write_page as write_sweep_page
from nbyt.results import plain
from nbyt.store.files import ADVICE, PAGE, PROBES, STUDY, SWEEP
from nbyt.store.paths import resolved, resolved_entry
from nbyt.store.run import Folder, read_probes


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
        The folder that `nbyt advise`, `nbyt sweep` or `nbyt reproduce` wrote, or that holds a
        training's probes.
    out
        The file to write; default: report.html in that folder.
    """
    folder = resolved(folder, "folder")
    target = resolved_entry(out or folder / PAGE.name)
    found = _page(folder, target)
    if not common.json:
        show(str(target))
    return Outcome({"report": str(target), **found})


def _page(folder: Path, target: Path) -> dict[str, Any]:
    """Write the page to `target`, and return what it is about."""
    if Folder(folder).has(STUDY):
        return _study_page(folder, target)
    if Folder(folder).has(SWEEP):
        return _sweep_page(folder, target)
    if Folder(folder).has(PROBES):
        return _probes_page(folder, target)
    return _advice_page(folder, target)


def _advice_page(folder: Path, target: Path) -> dict[str, Any]:
    data = plain(Folder(folder).require(ADVICE))
    write_page({**data, "report": str(target)}, target)
    return {"env": data["env"], "batch": data["batch"]}


def _study_page(folder: Path, target: Path) -> dict[str, Any]:
    data = plain(Folder(folder).require(STUDY))
    write_study_page({**data, "report": str(target)}, target)
    return {"study": data["study"], "claims": len(data["claims"])}


def _probes_page(folder: Path, target: Path) -> dict[str, Any]:
    data = read_probes(folder)
    write_probes_page(data, target)
    # A loop written by hand may not have said what it trains on.
    return {"env": data.get("env"), "probes": len(data["records"])}


def _sweep_page(folder: Path, target: Path) -> dict[str, Any]:
    sweep = Folder(folder).require(SWEEP)
    write_sweep_page(sweep, target)
    return {"env": sweep.env, "batch": sweep.batch, "cells": plain(sweep.cells)}
