"""Opening a run: a new folder, the same run resumed, or a refusal that touches nothing."""

import errno
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from nbyt.errors import StoreError
from nbyt.results import decode
from nbyt.results.training import Marker
from nbyt.store.advice import AdviceFolder
from nbyt.store.atomic import canonical
from nbyt.store.folder import MARKER, RESULT, RunFolder, load_stage
from nbyt.store.paths import (
    at_work,
    disk_errors,
    is_leftover,
    make_folder,
    remove_leftovers,
    require_no_links,
    resolved,
)
from nbyt.store.probes import ProbesFolder
from nbyt.store.seal import read_sealed, write_sealed
from nbyt.store.study import StudyFolder
from nbyt.store.sweep import SweepFolder
from nbyt.store.text import slug


@dataclass(frozen=True)
class Maker:
    """A command, what its folders hold, and how to handle them."""

    holds: str
    command: str
    folder: type[RunFolder]


_MAKERS = {
    "train": Maker("a training", "`nbyt train`", RunFolder),
    "sweep": Maker("a sweep", "`nbyt sweep`", SweepFolder),
    "advise": Maker("an advice", "`nbyt advise`", AdviceFolder),
    "reproduce": Maker("a study", "`nbyt reproduce`", StudyFolder),
    "probe a training": Maker("the probes of a training", "GradientProbe", ProbesFolder),
}


def maker_of(identity: dict[str, Any]) -> Maker | None:
    """Who made a folder with that identity; None where it does not say."""
    # Trainings and studies have no command in their identity, but a word that no other has.
    told = [name for key, name in (("study", "reproduce"), ("algo", "train")) if key in identity]
    name = identity.get("command", told[0] if told else None)
    return _MAKERS.get(name) if isinstance(name, str) else None


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


__all__ = ["RunFolder", "load_stage", "open_as", "open_run", "slug", "verify"]

_NAMED = 5  # settings that are named where a run has others
_BRIEF = 30  # characters of each
Folder = TypeVar("Folder", bound=RunFolder)


def open_run(
    out: Path,
    identity: dict[str, Any],
    *,
    manifest: dict[str, Any] | None = None,
    force: bool = False,
    inner: bool = False,
) -> RunFolder:
    """The training run in `out`, made or resumed; see `open_as`."""
    return open_as(RunFolder, out, identity, manifest=manifest, force=force, inner=inner)


def open_as(
    kind: type[Folder],
    out: Path,
    identity: dict[str, Any],
    *,
    manifest: dict[str, Any] | None = None,
    force: bool = False,
    inner: bool = False,
) -> Folder:
    """The run in `out`, made or resumed, as a folder of that kind.

    `identity` holds the settings that decide the numbers; a run is resumed only by the same ones.
    With `force`, a run of another identity is cleared and begun anew; a folder that is not an nbyt
    run is refused all the same. `manifest` is kept from the run's first start. inner: `out` is part
    of another run's folder, so a link in its place is refused; the user's own --out may be one.
    """
    path = out if inner else resolved(out)
    require_no_links(path)
    wanted = json.loads(canonical(identity, where="identity"))
    if _is_foreign(path):
        raise StoreError(
            f"{path} is not an nbyt run and is not empty",
            where="--out",
            fix="choose another --out, or an empty folder",
        )
    there = _identity(path)
    changes = [] if there is None else differences(there, wanted)
    maker = maker_of(there or {})
    if changes and not force:
        raise _refused(path, changes, None if maker is None or maker.folder is kind else maker)
    _prepare(path)
    with at_work(path):
        with disk_errors(path, 0):
            remove_leftovers(path)
            if os.path.lexists(path / RESULT):
                RunFolder(path).clear_checkpoint()  # a crash after the result has left it
            if changes:
                # By what is there: a sweep's cells are unknown to a training.
                (kind if maker is None else maker.folder)(path).clear()
        # The marker is replaced last: a crash in between leaves a folder that is known as ours.
        if changes or not os.path.lexists(path / MARKER):
            facts = {"identity": wanted, "manifest": manifest or {}}
            write_sealed(path / MARKER, facts, kind="run")
    return kind(path)


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Each setting that differs, as `key: old -> new`; nested keys are joined by dots."""
    before, after = _flat(old), _flat(new)
    return [
        f"{key}: {_brief(before.get(key))} -> {_brief(after.get(key))}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def _is_foreign(path: Path) -> bool:
    """Whether something is at `path` that is neither a run nor an empty folder."""
    if not os.path.isdir(path):
        return os.path.lexists(path)
    if os.path.lexists(path / MARKER):
        return False
    with disk_errors(path, 0):
        return any(not is_leftover(name) for name in os.listdir(path))


def _identity(path: Path) -> dict[str, Any] | None:
    """That of the run which is there; None where there is none."""
    if not os.path.lexists(path / MARKER):
        return None
    facts = read_sealed(path / MARKER, kind="run")["facts"]
    return decode(facts, Marker, path / MARKER).identity


def _refused(path: Path, changes: list[str], maker: Maker | None) -> StoreError:
    """Why a run cannot go into a folder; maker: the other command whose folder it is."""
    if maker is not None:
        message = f"{path} holds {maker.holds}, made by {maker.command}"
    else:
        more = len(changes) - _NAMED
        named = changes[:_NAMED] + ([f"and {more} more"] if more > 0 else [])
        message = f"{path} holds a run with other settings: {', '.join(named)}"
    return StoreError(
        message, where="--out", fix="choose another --out, or --force to clear what is there"
    )


def _prepare(path: Path) -> None:
    make_folder(path)
    with disk_errors(path, 0):
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, str]:
    # Leaves as JSON text, because 1 == True == 1.0 in Python and they are different settings.
    leaves: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            leaves |= _flat(value, f"{prefix}{key}.")
        else:
            leaves[f"{prefix}{key}"] = json.dumps(value)
    return leaves


def _brief(leaf: str | None) -> str:
    if leaf is None:
        return "(absent)"
    return leaf if len(leaf) <= _BRIEF else leaf[: _BRIEF - 3] + "..."
