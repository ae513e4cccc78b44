"""The folder of a run: opened anew, resumed or refused; read, written and verified."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from nbyt.errors import StoreError
from nbyt.results import Data, ProbedTraining, StageFacts
from nbyt.store.atomic import canonical
from nbyt.store.files import (
    CHECKPOINT,
    COMMANDS,
    MARKER,
    PAGE,
    PROBES,
    RECORD,
    RESULT,
    STAGE,
    TRAINING,
    Command,
    Entry,
    Kind,
    Sealed,
    Value,
    clear,
)
from nbyt.store.paths import (
    at_work,
    disk_errors,
    is_leftover,
    make_writable,
    remove_leftovers,
    require_no_links,
    resolved,
    resolved_entry,
)
from nbyt.store.tensors import Tensors

_NAMED = 5  # settings that are named where a run has others
_BRIEF = 30  # characters of each
_MOST_NAMED = 6  # stages
_REMOVED = "adaptive."  # settings that only trainings with --layout auto had


@dataclass(frozen=True)
class Folder:
    """The folder of a run; `nbyt.store.files` lists what it can hold. Opened by `open_run`."""

    path: Path

    def path_of(self, entry: Entry[Any, Any], *key: int | str) -> Path:
        """Return where an entry is, or would be."""
        return entry.path(self.path, *key)

    def has(self, entry: Entry[Any, Any], *key: int | str) -> bool:
        """Return True if the entry is there, whole or not."""
        return os.path.lexists(self.path_of(entry, *key))

    def present(self, entry: Entry[Any, Any]) -> list[Path]:
        """List the files of an entry, in order of their number."""
        return entry.present(self.path)

    def read(self, entry: Entry[Kind, Any], *key: int | str) -> Kind | None:
        """Read an entry; None if it is not there."""
        path = self.path_of(entry, *key)
        if not os.path.lexists(path):
            return None
        try:
            return entry.read(path)
        except StoreError:
            if isinstance(entry, Sealed) and entry.remade:
                return None
            raise

    def require(self, entry: Sealed[Kind]) -> Kind:
        """Read an entry that the user expects here; raise a StoreError if it is not."""
        path = self.path_of(entry)
        if not os.path.lexists(path):
            what, fix = entry.absent
            found = f"holds {what}" if self.path.is_dir() else "is not a folder"
            found = found if os.path.lexists(self.path) else "does not exist"
            raise StoreError(f"{self.path} {found}", where=str(self.path), fix=fix)
        return entry.read(path)

    def write(self, entry: Entry[Any, Value], value: Value, *key: int | str) -> Path:
        """Write an entry, all of it or after a crash nothing, and return where it is."""
        path = self.path_of(entry, *key)
        entry.write(path, value)
        return path

    def remove(self, entry: Entry[Any, Any], *key: int | str) -> None:
        """Remove an entry if it is there."""
        entry.remove(self.path_of(entry, *key))


def command_of(identity: Data) -> str | None:
    """Return the command that wrote a folder with that identity; None where it does not say."""
    # Trainings and studies have no command in their identity, but a key that no other has.
    implied = [name for key, name in (("study", "reproduce"), ("algo", "train")) if key in identity]
    name = identity.get("command", implied[0] if implied else None)
    return name if isinstance(name, str) and name in COMMANDS else None


def verify(folder: Path) -> list[str]:
    """Return one line for each bad file in a run folder, with the reason."""
    entries = dict.fromkeys(entry for one in COMMANDS.values() for entry in one.entries)
    try:
        path = Path(folder).resolve()
        checks: list[Callable[[], object]] = [partial(_check_marker, path)]
        for entry in entries:
            checks += [partial(entry.read, part) for part in entry.present(path)]
    except (OSError, ValueError) as error:
        return [f"{folder} cannot be listed: {getattr(error, 'strerror', None) or error}"]
    return [reason for check in checks if (reason := _reason(check))]


def _check_marker(folder: Path) -> None:
    if not MARKER.present(folder):
        raise StoreError(f"{folder / MARKER.name} is missing: this is not an nbyt run")
    MARKER.read(folder / MARKER.name)


def _reason(check: Callable[[], object]) -> str:
    try:
        check()
    except StoreError as error:
        return error.message
    except Exception as error:  # one bad file must not hide the others
        return f"{type(error).__name__}: {error}"
    return ""


def open_run(
    out: Path,
    identity: Data,
    command: str = "train",
    *,
    manifest: Data | None = None,
    force: bool = False,
    inner: bool = False,
) -> Folder:
    """Open the run in `out`, made or resumed, as a folder of that command.

    `identity` holds the settings that decide the numbers; a run is resumed only by the same ones.
    With `force`, a run of another identity is cleared and begun anew; a folder that is not an nbyt
    run is refused all the same. `manifest` is kept from the run's first start. inner: `out` is part
    of another run's folder, so a link in its place is refused; the user's own --out may be one.
    """
    path = out if inner else resolved(out)
    require_no_links(path)
    wanted = json.loads(canonical(identity, where="identity"))
    if _is_foreign(path):
        message = f"{path} is not an nbyt run and is not empty"
        raise StoreError(message, where="--out", fix="choose another --out, or an empty folder")
    folder = Folder(path)
    marker = folder.read(MARKER)
    changes = [] if marker is None else differences(marker.identity, wanted)
    writer = command_of(marker.identity) if marker is not None else None
    if changes and not force:
        raise _refused(path, changes, COMMANDS[writer] if writer not in (None, command) else None)
    make_writable(path)
    with at_work(path):
        with disk_errors(path, 0):
            remove_leftovers(path)
            if folder.has(RESULT):
                folder.remove(CHECKPOINT)  # a crash after the result has left it
            if changes:
                # By what is there: a sweep's cells are unknown to a training.
                clear(path, COMMANDS[writer or command].entries)
        # The marker is replaced last: a crash in between leaves a folder that is known as ours.
        if changes or not folder.has(MARKER):
            folder.write(MARKER, {"identity": wanted, "manifest": manifest or {}})
    return folder


def require_no_page(path: Path) -> None:
    """Raise a StoreError for the folder of another command, whose page ours would replace."""
    marker = Folder(path).read(MARKER)
    writer = None if marker is None else command_of(marker.identity)
    writer = "probe a training" if Folder(path).has(PROBES) else writer
    if writer is not None and PAGE in COMMANDS[writer].entries:
        holder = COMMANDS[writer]
        message = f"{path} holds {holder.holds}, made by {holder.name}"
        raise StoreError(message, where="--out", fix="choose another --out")


def load_stage(path: Path) -> tuple[Tensors, StageFacts]:
    """Read the arrays and facts of a stage, given its folder or one of its two files.

    A stage that is a link is refused: in a run that somebody sent us, it may lead anywhere.
    """
    path = Path(path)
    folder = path.parent if path.name in ("stage.json", "stage.safetensors") else path
    folder = resolved_entry(folder, "stage")
    if not os.path.isdir(folder):
        message = f"{folder} is not a stage folder"
        fix = "give the folder of one stage, such as runs/cartpole/stage-3"
        raise StoreError(message, where=str(folder), fix=fix)
    if not os.path.lexists(folder / "stage.json"):
        _require_no_run(folder)
    return STAGE.read(folder)


def _require_no_run(folder: Path) -> None:
    """Raise a StoreError that names the stages inside, if a run is given in place of a stage."""
    stages, marker = STAGE.present(folder), Folder(folder).read(MARKER)
    writer = None if marker is None else command_of(marker.identity)
    if stages:
        message = f"{folder} is a training, and not one of its stages: {_named(stages)}"
    elif writer is not None:
        message = f"{folder} holds {COMMANDS[writer].holds}, and is not a stage"
        stages = [one for run in TRAINING.present(folder) for one in STAGE.present(run)]
    else:
        return
    fix = "give a stage that `nbyt train` has kept"
    if stages:
        fix = f"give a stage: `nbyt probe {stages[-1]}`, or `--from {stages[-1]}`"
    raise StoreError(message, where=str(folder), fix=fix)


def _named(stages: list[Path]) -> str:
    names = [stage.name for stage in stages]
    if len(names) > _MOST_NAMED:
        return f"{names[0]} to {names[-1]}, {len(names)} of them"
    return ", ".join(names)


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """List the settings that differ, as `key: old -> new`; nested keys are joined by dots."""
    before, after = _flat(old), _flat(new)
    return [
        f"{key}: {_brief(before.get(key))} -> {_brief(after.get(key))}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def _is_foreign(path: Path) -> bool:
    """Return True if something is at `path` that is neither a run nor an empty folder."""
    if not os.path.isdir(path):
        return os.path.lexists(path)
    if os.path.lexists(path / MARKER.name):
        return False
    with disk_errors(path, 0):
        return any(not is_leftover(name) for name in os.listdir(path))


def _refused(path: Path, changes: list[str], writer: Command | None) -> StoreError:
    """Say why a run cannot go into a folder. writer: the other command whose folder it is."""
    if writer is not None:
        message = f"{path} holds {writer.holds}, made by {writer.name}"
    elif any(change.startswith(_REMOVED) for change in changes):
        message = f"{path} holds a training with --layout auto, which was removed"
    else:
        more = len(changes) - _NAMED
        named = changes[:_NAMED] + ([f"and {more} more"] if more > 0 else [])
        message = f"{path} holds a run with other settings: {', '.join(named)}"
    return StoreError(
        message, where="--out", fix="choose another --out, or --force to clear what is there"
    )


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


def add_record(folder: Folder, record: Data) -> None:
    """Write the record of a probed update, in place of an older one of that update.

    Records of later updates are removed: the training was begun again, or went back to a
    checkpoint.
    """
    folder.write(RECORD, record, record["update"])
    there = folder.present(RECORD)
    for path in there[there.index(folder.path_of(RECORD, record["update"])) + 1 :]:
        RECORD.remove(path)


def read_probes(folder: Path) -> ProbedTraining:
    """Read what is known of a probed training, and its records in order of their update."""
    head = Folder(Path(folder)).require(PROBES)
    records = tuple(RECORD.read(path) for path in RECORD.present(Path(folder)))
    return ProbedTraining(**asdict(head), records=records)
