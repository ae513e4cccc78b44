"""The table of files: what the folder of each command holds, and as which type it is read back.

To keep another file, add it to the table at the end and to the folders that hold it.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from nbyt import results
from nbyt.errors import StoreError
from nbyt.results import Data, decode, plain
from nbyt.results.values import Record
from nbyt.store.atomic import read_bytes, write_text
from nbyt.store.formats import (
    JSON_LIMIT,
    Row,
    from_csv,
    read_sealed,
    require_room,
    to_csv,
    write_sealed,
)
from nbyt.store.manifest import tidy
from nbyt.store.paths import remove_file, remove_if_empty
from nbyt.store.tensors import Facts, Tensors, hashed_files, read_bundle, write_bundle, write_folder

LIMIT = 64 << 20
METRICS_LIMIT = 256 << 20
Read = TypeVar("Read", covariant=True)
Written = TypeVar("Written", contravariant=True)
Value = TypeVar("Value")
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Entry(Generic[Read, Written]):
    """A file in a folder: how it is named, read, written and removed.

    name: with a format such as {:d} for each of its keys. keys: the names that there can be, as a
    regular expression, where they are not just whole numbers. parent: the folder that holds all of
    them.
    """

    name: str
    keys: str = ""
    parent: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Match the file names of this entry."""
        return re.compile(self.keys or re.escape(self.name).replace(r"\{:d\}", "[0-9]+"))

    def path(self, folder: Path, *key: int | str) -> Path:
        """Return where the file with that key is."""
        name = self.name.format(*key)
        if not self.pattern.fullmatch(name):
            raise ValueError(f"{name!r} cannot be the name of a file of ours")
        return folder / self.parent / name

    def present(self, folder: Path) -> list[Path]:
        """List the files of this entry, in order of their number."""
        if "{" not in self.name:
            return [folder / self.name] if os.path.lexists(folder / self.name) else []
        named = [path for path in folder.iterdir() if self.pattern.fullmatch(path.name)]
        return sorted(named, key=lambda path: (len(path.name), path.name))

    def read(self, path: Path) -> Read:
        """Read what is there; raise a StoreError where it is not what nbyt wrote."""
        raise NotImplementedError

    def write(self, path: Path, value: Written) -> None:
        """Write the value: all of it, or after a crash nothing."""
        raise NotImplementedError

    def remove(self, path: Path) -> None:
        """Remove what is there; of a link, only the link."""
        remove_file(path)


@dataclass(frozen=True, kw_only=True)
class Sealed(Entry[Kind, Kind | Data]):
    """JSON that carries its own hash, and is read back as a type of `nbyt.results`.

    remade: a damaged file counts as absent, because its writer writes the same bytes again.
    foreign: it holds words of an env, which may contain addresses and paths. numbered: the field
    that gives the file its name. absent: what a folder without it lacks, and how to fix that.
    """

    kind: str
    record: type[Kind]
    limit: int = LIMIT
    remade: bool = False
    foreign: bool = False
    numbered: str = ""
    absent: tuple[str, str] = ("", "")

    def read(self, path: Path) -> Kind:
        """Read the record, after its hash and every key have been checked."""
        facts = read_sealed(path, kind=self.kind, limit=self.limit)["facts"]
        record = decode(facts, self.record, path)
        # A whole record under another's name would be shown twice, in the wrong place.
        if self.numbered and self.name.format(getattr(record, self.numbered)) != path.name:
            number = getattr(record, self.numbered)
            message = f"{path} holds the {self.kind} of {self.numbered} {number}"
            fix = "give it the name it was written under, or delete it"
            raise StoreError(message, where=str(path), fix=fix)
        return record

    def write(self, path: Path, value: Kind | Data) -> None:
        """Write the record in one step."""
        facts: Any = plain(value) if isinstance(value, Record) else value
        write_sealed(path, tidy(facts) if self.foreign else facts, kind=self.kind, limit=self.limit)


@dataclass(frozen=True, kw_only=True)
class Arrays(Entry[tuple[Tensors, Kind], tuple[Tensors, Facts]]):
    """Arrays with facts, written once into a folder of their own."""

    kind: str
    record: type[Kind]

    def read(self, path: Path) -> tuple[Tensors, Kind]:
        """Read arrays and facts, after everything about both files has been checked."""
        tensors, facts = read_bundle(path, self.kind, kind=self.kind)
        return tensors, decode(facts, self.record, path / f"{self.kind}.json")

    def write(self, path: Path, value: tuple[Tensors, Facts]) -> None:
        """Write the folder in one step."""
        write_folder(path, self.kind, *value, kind=self.kind)

    def remove(self, path: Path) -> None:
        """Remove the folder, or a link in its place."""
        if path.is_symlink():
            remove_file(path)
        elif path.is_dir():  # else it is not ours
            for ending in ("json", "safetensors"):
                remove_file(path / f"{self.kind}.{ending}")
            remove_if_empty(path)


@dataclass(frozen=True)
class Checkpoint(Entry[tuple[Tensors, results.CheckpointFacts], tuple[Tensors, Facts]]):
    """Arrays with facts that are replaced again and again."""

    def read(self, path: Path) -> tuple[Tensors, results.CheckpointFacts]:
        """Read the last checkpoint."""
        try:
            tensors, facts = read_bundle(path.parent, path.stem, kind=path.stem)
            return tensors, decode(facts, results.CheckpointFacts, path)
        except StoreError as error:
            restart = f"or delete checkpoint* in {path.parent}, which restarts the run"
            raise StoreError(
                error.message, where=error.where, fix=f"{error.fix}; {restart}"
            ) from error

    def write(self, path: Path, value: tuple[Tensors, Facts]) -> None:
        """Replace the checkpoint; on failure it is still the last one."""
        write_bundle(path.parent, path.stem, *value, kind=path.stem)

    def remove(self, path: Path) -> None:
        """Remove the JSON and then the arrays, which are only a leftover without it."""
        remove_file(path)
        for file in hashed_files(path.parent, path.stem):
            remove_file(file)


@dataclass(frozen=True)
class Rows(Entry[list[Row], list[Row]]):
    """Rows of numbers as CSV."""

    def read(self, path: Path) -> list[Row]:
        """Read the rows, with every float as it was."""
        data = read_bytes(path, limit=METRICS_LIMIT)
        try:
            return from_csv(data.decode("utf-8"), str(path))
        except UnicodeDecodeError as error:
            raise StoreError(
                f"{path} is not UTF-8 text", where=str(path), fix="delete it; the run rewrites it"
            ) from error

    def write(self, path: Path, value: list[Row]) -> None:
        """Write the rows in one step."""
        text = to_csv(value, str(path))
        require_room(path, len(text.encode()), METRICS_LIMIT)
        write_text(path, text)


@dataclass(frozen=True)
class Text(Entry[None, str]):
    """A file for the user, which nbyt never reads back."""

    def read(self, path: Path) -> None:
        """Accept whatever is there."""

    def write(self, path: Path, value: str) -> None:
        """Write the text in one step."""
        write_text(path, value)


@dataclass(frozen=True, kw_only=True)
class Inner(Entry[None, None]):
    """The folder of another run inside this one."""

    entries: tuple[Entry[Any, Any], ...]

    def present(self, folder: Path) -> list[Path]:
        """List the runs; a link in place of the folder that holds them counts as one."""
        parent = folder / self.parent
        if self.parent and parent.is_symlink():
            return [parent]
        return super().present(parent) if parent.is_dir() else []

    def read(self, path: Path) -> None:
        """Accept whatever is there: a run is verified by itself."""

    def remove(self, path: Path) -> None:
        """Clear the run and remove its marker; of a link, only the link."""
        if path.is_symlink():
            remove_file(path)
        elif os.path.lexists(path / MARKER.name):
            clear(path, self.entries)
            remove_file(path / MARKER.name)


def clear(folder: Path, entries: Iterable[Entry[Any, Any]]) -> None:
    """Remove the files of those entries, and no other file."""
    for entry in entries:
        # Of a checkpoint without its JSON the arrays may be left.
        paths = entry.present(folder) if "{" in entry.name else [entry.path(folder)]
        for path in paths:
            entry.remove(path)


_AGAIN = "one that was stopped is finished by the same command"
_CELL = r"-[0-9]+x[0-9]+-seed-[0-9]+\.json"

MARKER = Sealed("nbyt-run.json", kind="run", record=results.Marker, limit=JSON_LIMIT)
PAGE = Text("report.html")

CHECKPOINT = Checkpoint("checkpoint.json")
RESULT = Sealed("result.json", kind="result", record=results.Result)
METRICS = Rows("metrics.csv")
STAGE = Arrays("stage-{:d}", kind="stage", record=results.StageFacts)
_TRAINING = (CHECKPOINT, RESULT, METRICS, STAGE)

ADVICE = Sealed(
    "advice.json",
    kind="advice",
    record=results.Advice,
    absent=(
        "no advice",
        "give a folder that `nbyt advise` or `nbyt reproduce` wrote, or that holds a training's "
        f"probes; {_AGAIN}",
    ),
)
COSTS = Sealed("costs.json", kind="costs", record=results.Costs)
LOOK = Sealed("look-{:d}-{:d}.json", kind="look", record=results.Look)
UNTRAINED = Sealed("untrained.json", kind="untrained", record=results.Untrained, remade=True)
MEASURED = Sealed(
    "measurement.json",
    kind="measurement",
    record=results.Measurement,
    absent=("no measurement", "give the folder that was given to `nbyt probe --out`"),
)
MEASUREMENT = Arrays("measured-{:d}", kind="measurement", record=results.Measurement)
TRAINING = Inner("training-{:d}x{:d}", entries=_TRAINING)
CELL = Sealed("cell-{}.json", "cell" + _CELL, kind="cell", record=results.CellCurve, remade=True)
FAILED = Sealed(
    "failed-{}.json",
    "failed" + _CELL,
    kind="failed",
    record=results.Failure,
    remade=True,
    foreign=True,
)
_ADVICE = (ADVICE, COSTS, PAGE, MEASUREMENT, LOOK, UNTRAINED, CELL, FAILED, TRAINING)

SWEEP = Sealed(
    "sweep.json",
    kind="sweep",
    record=results.Sweep,
    absent=("no finished sweep", f"give the folder that `nbyt sweep` wrote; {_AGAIN}"),
)
TABLE = Text("table.csv")
TIMES = Sealed("times.json", kind="times", record=results.Costs)
_SWEEP = (SWEEP, TABLE, TIMES, PAGE, CELL, FAILED)

STUDY = Sealed(
    "study.json",
    kind="study",
    record=results.Study,
    absent=("no finished study", f"give the folder that `nbyt reproduce` wrote; {_AGAIN}"),
)
# What an experiment found is read by the claims it was made for alone.
EXPERIMENT = Sealed(
    "experiment-{}.json", r"experiment-[a-z0-9-]+\.json", kind="experiment", record=Data
)
STUDY_TRAINING = Inner("{}", r"[^/\\]+", entries=_TRAINING, parent="trainings")
_STUDY = (STUDY, PAGE, EXPERIMENT, STUDY_TRAINING)

PROBES = Sealed(
    "probes.json",
    kind="probes",
    record=results.ProbeLog,
    absent=("no probed training", "give the folder that a training's probes are kept in"),
)
RECORD = Sealed(
    "record-{:06d}.json",
    r"record-([0-9]{6}|[1-9][0-9]{6,})\.json",
    kind="record",
    record=results.ProbeRecord,
    numbered="update",
)
_PROBES = (PROBES, PAGE, RECORD)


@dataclass(frozen=True)
class Command:
    """A command, what its folders are called, and what they hold."""

    name: str
    holds: str
    entries: tuple[Entry[Any, Any], ...]


COMMANDS = {
    "train": Command("`nbyt train`", "a training", _TRAINING),
    "advise": Command("`nbyt advise`", "an advice", _ADVICE),
    "sweep": Command("`nbyt sweep`", "a sweep", _SWEEP),
    "reproduce": Command("`nbyt reproduce`", "a study", _STUDY),
    "probe a training": Command("GradientProbe", "the probes of a training", _PROBES),
}
