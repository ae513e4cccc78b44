"""`nbyt report`: rebuild the page of a stored advice, study, sweep, measurement or training."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from nbyt.cli.output import Common, Outcome, show
from nbyt.report.pages.advice import advice_page
from nbyt.report.pages.measurement import measurement_page
from nbyt.report.pages.probes import probes_page
from nbyt.report.pages.study import study_page
from nbyt.report.pages.sweep import sweep_page
from nbyt.results import plain
from nbyt.store.files import ADVICE, MEASURED, PAGE, PROBES, STUDY, SWEEP
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
        The folder that `nbyt advise`, `nbyt sweep`, `nbyt reproduce` or `nbyt probe --out` wrote,
        or that holds a training's probes.
    out
        The file to write; default: report.html in that folder.
    """
    folder = resolved(folder, "folder")
    target = resolved_entry(out or folder / PAGE.name)
    found = _page(folder, target)
    if not common.json:
        show(str(target))
    return Outcome({"report": str(target), **found})


def _page(path: Path, target: Path) -> dict[str, Any]:
    """Write the page to `target`, and return what it is about."""
    folder = Folder(path)
    if folder.has(SWEEP):
        sweep = folder.require(SWEEP)
        sweep_page(sweep).write(target)
        return {"env": sweep.env, "batch": sweep.batch, "cells": plain(sweep.cells)}
    if folder.has(PROBES):
        training = read_probes(path)
        probes_page(training).write(target)
        # A loop written by hand may not have said what it trains on.
        return {"env": training.env or None, "probes": len(training.records)}
    if folder.has(STUDY):
        study = folder.require(STUDY)
        study_page(study).write(target)
        return {"study": study.study, "claims": len(study.claims)}
    if folder.has(MEASURED) and not folder.has(ADVICE):
        measured = folder.require(MEASURED)
        measurement_page(measured).write(target)
        return {"env": measured.env, "batch": measured.batch}
    advice = folder.require(ADVICE)
    advice_page(advice).write(target)
    return {"env": advice.env, "batch": advice.batch}
