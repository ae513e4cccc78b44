"""The folder of a training that is probed: what it is, and a file for every probed update."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.probes import ProbeLog, ProbeRecord
from nbyt.store.advice import PAGE
from nbyt.store.folder import RunFolder
from nbyt.store.paths import remove_file
from nbyt.store.seal import read_sealed, write_sealed

LOG = "probes.json"
PROBES_LIMIT = 64 << 20
_RECORD = re.compile(r"record-([0-9]{6}|[1-9][0-9]{6,})\.json")


@dataclass(frozen=True)
class ProbesFolder(RunFolder):
    """A training under way or complete; what a probe measured is kept as soon as it is there."""

    def write_log(self, head: dict[str, Any]) -> None:
        """Nothing; probes.json then holds what is known of the training when it starts."""
        write_sealed(self.path / LOG, head, kind="probes", limit=PROBES_LIMIT)

    def add(self, record: dict[str, Any]) -> None:
        """Nothing; the record of its update is then on disk, whole, in place of an older one.

        Records of later updates are of a way that the training did not go: it was begun again, or
        went back to a checkpoint. They are removed.
        """
        path = self.path / f"record-{record['update']:06d}.json"
        write_sealed(path, record, kind="record", limit=PROBES_LIMIT)
        for other in self.records():
            if _update(other) > record["update"]:
                remove_file(other)

    def records(self) -> list[Path]:
        """The files of records that are there, in order of their update."""
        found = [entry for entry in self.path.iterdir() if _RECORD.fullmatch(entry.name)]
        return sorted(found, key=_update)

    def checks(self) -> list[Callable[[], object]]:
        """What reads each part that is there, and raises a StoreError where it is bad."""
        log = [partial(_read_log, self.path)] if holds_probes(self.path) else []
        return [*log, *(partial(_read_record, path) for path in self.records())]

    def clear(self) -> None:
        """Nothing; every file that nbyt wrote is then gone, except the marker."""
        super().clear()
        for path in (self.path / LOG, self.path / PAGE, *self.records()):
            remove_file(path)


def holds_probes(folder: Path) -> bool:
    """Whether a probed training is in that folder."""
    return os.path.lexists(Path(folder) / LOG)


def read_probes(folder: Path) -> dict[str, Any]:
    """What is known of the training in a folder, and its records in order of their update."""
    if not holds_probes(folder):
        raise StoreError(
            f"{folder} holds no probed training",
            where=str(folder),
            fix="give the folder that a training's probes are kept in",
        )
    records = ProbesFolder(Path(folder)).records()
    return {**_read_log(Path(folder)), "records": [_read_record(path) for path in records]}


def _read_log(folder: Path) -> dict[str, Any]:
    path = folder / LOG
    facts = read_sealed(path, kind="probes", limit=PROBES_LIMIT)["facts"]
    return plain(decode(facts, ProbeLog, path))


def _read_record(path: Path) -> dict[str, Any]:
    facts = read_sealed(path, kind="record", limit=PROBES_LIMIT)["facts"]
    record = decode(facts, ProbeRecord, path)
    # A whole record under another's name would be drawn twice, at the wrong place in the order.
    if record.update != _update(path):
        raise StoreError(
            f"{path} holds the record of update {record.update}",
            where=str(path),
            fix="give it the name it was written under, or delete it",
        )
    return plain(record)


def _update(path: Path) -> int:
    """The update that a record's file is named after."""
    return int(path.name.removeprefix("record-").removesuffix(".json"))
