"""Every bad file of a run, for `nbyt doctor --dir`."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from nbyt.errors import StoreError
from nbyt.results import decode
from nbyt.results.training import Marker
from nbyt.store.advice import AdviceFolder
from nbyt.store.folder import MARKER, load_stage
from nbyt.store.probes import ProbesFolder
from nbyt.store.seal import read_sealed
from nbyt.store.study import StudyFolder
from nbyt.store.sweep import SweepFolder


def verify(folder: Path) -> list[str]:
    """One line for each bad file in a run folder, with the reason; an empty list is good news."""
    try:
        run = AdviceFolder(Path(folder).resolve())
        kinds = (run, StudyFolder(run.path), ProbesFolder(run.path), SweepFolder(run.path))
        stages, parts = run.stages(), [part for kind in kinds for part in kind.checks()]
    except (OSError, ValueError) as error:
        return [f"{folder} cannot be listed: {getattr(error, 'strerror', None) or error}"]
    checks: list[Callable[[], object]] = [
        partial(_check_marker, run.path / MARKER),
        run.load_checkpoint,
        run.read_result,
        run.read_metrics,
        *(partial(load_stage, stage) for stage in stages),
        *parts,
    ]
    return [reason for check in checks if (reason := _reason(check))]


def _check_marker(path: Path) -> None:
    if not os.path.lexists(path):
        raise StoreError(f"{path} is missing: this is not an nbyt run")
    decode(read_sealed(path, kind="run")["facts"], Marker, path)


def _reason(check: Callable[[], object]) -> str:
    try:
        check()
    except StoreError as error:
        return error.message
    except Exception as error:  # a doctor who faints helps nobody
        return f"{type(error).__name__}: {error}"
    return ""
