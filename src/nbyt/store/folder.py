"""The run folder: where stages, the checkpoint, metrics and the result of one run live."""

import csv
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.training import CheckpointFacts, Result, StageFacts
from nbyt.store.atomic import read_bytes, write_text
from nbyt.store.paths import remove_file, remove_if_empty, resolved_entry
from nbyt.store.seal import read_sealed, require_room, write_sealed
from nbyt.store.tensors import (
    Facts,
    Tensors,
    hashed_files,
    read_bundle,
    write_bundle,
    write_folder,
)

Row = dict[str, Any]


def to_csv(rows: list[Row], where: str) -> str:
    """The rows as CSV; the columns are those of the first row, and every row has exactly them.

    A cell is a whole number, a float, text, or None (empty). True and False become 1 and 0.
    """
    if not rows:
        return ""
    columns = list(rows[0])
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for number, row in enumerate(rows):
        odd = sorted(row.keys() ^ rows[0].keys())
        if odd:
            raise _bad(f"row {number} differs from the first row in the column '{odd[0]}'", where)
        writer.writerow([_written(row[column], column, where) for column in columns])
    return out.getvalue()


def from_csv(text: str, where: str) -> list[Row]:
    """The rows of a CSV text made by `to_csv`."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        columns = lines[0] if lines else []
        if len(set(columns)) != len(columns):
            raise ValueError("a column comes twice")
        return [
            dict(zip(columns, (_value(cell) for cell in line), strict=True)) for line in lines[1:]
        ]
    except (csv.Error, ValueError) as error:
        raise _bad(f"{where} is not CSV that nbyt wrote: {str(error)!a}", where) from error


def _written(value: Any, column: str, where: str) -> str:
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()  # float32 becomes the float of the same value
    if value is None:
        return ""
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str) and _value(value) == value:
        return value
    raise _bad(f"column '{column}' holds {value!r}, which CSV would not give back", where)


def _value(cell: str) -> int | float | str | None:
    if cell == "":
        return None
    if re.fullmatch(r"-?[0-9]+", cell):
        return int(cell)
    try:
        return float(cell)
    except ValueError:
        return cell


def _bad(reason: str, where: str) -> StoreError:
    return StoreError(reason, where=where, fix="rows of numbers with the same columns are needed")


MARKER = "nbyt-run.json"
METRICS = "metrics.csv"
RESULT = "result.json"
CHECKPOINT = "checkpoint"
RESULT_LIMIT = 64 << 20
METRICS_LIMIT = 256 << 20
_MOST_NAMED = 6  # stages
_STAGE = re.compile(r"stage-[0-9]+")


@dataclass(frozen=True)
class RunFolder:
    """A run's folder, open for reading and writing. Made by `open_run`; `path` is resolved."""

    path: Path

    def stage_path(self, number: int) -> Path:
        """The folder of a stage."""
        return self.path / f"stage-{number:d}"

    def stages(self) -> list[Path]:
        """The stage folders that are there, in order of their number."""
        found = [entry for entry in self.path.iterdir() if _STAGE.fullmatch(entry.name)]
        return sorted(found, key=lambda entry: (len(entry.name), entry.name))

    def save_stage(self, number: int, tensors: Tensors, facts: Facts) -> None:
        """Nothing; the stage is then on disk, whole."""
        write_folder(self.stage_path(number), "stage", tensors, facts, kind="stage")

    def save_checkpoint(self, tensors: Tensors, facts: Facts) -> None:
        """Nothing; the checkpoint on disk is then this one, or still the last on failure."""
        write_bundle(self.path, CHECKPOINT, tensors, facts, kind="checkpoint")

    def load_checkpoint(self) -> tuple[Tensors, CheckpointFacts] | None:
        """The last checkpoint, or None if there is none."""
        if not os.path.lexists(self.path / f"{CHECKPOINT}.json"):
            return None
        try:
            tensors, facts = read_bundle(self.path, CHECKPOINT, kind="checkpoint")
            found = decode(facts, CheckpointFacts, self.path / f"{CHECKPOINT}.json")
            return tensors, found
        except StoreError as error:
            restart = f"or delete checkpoint* in {self.path}, which restarts the run"
            raise StoreError(
                error.message, where=error.where, fix=f"{error.fix}; {restart}"
            ) from error

    def clear_checkpoint(self) -> None:
        """Nothing; there is then no checkpoint."""
        # The JSON goes first: without it the tensors are only a leftover.
        remove_file(self.path / f"{CHECKPOINT}.json")
        for file in hashed_files(self.path, CHECKPOINT):
            remove_file(file)

    def write_metrics(self, rows: list[Row]) -> None:
        """Nothing; metrics.csv then holds these rows."""
        path = self.path / METRICS
        text = to_csv(rows, str(path))
        require_room(path, len(text.encode()), METRICS_LIMIT)
        write_text(path, text)

    def read_metrics(self) -> list[Row]:
        """The rows of metrics.csv; none if it does not exist."""
        path = self.path / METRICS
        if not os.path.lexists(path):
            return []
        data = read_bytes(path, limit=METRICS_LIMIT)
        try:
            return from_csv(data.decode("utf-8"), str(path))
        except UnicodeDecodeError as error:
            raise StoreError(
                f"{path} is not UTF-8 text", where=str(path), fix="delete it; the run rewrites it"
            ) from error

    def write_result(self, result: dict[str, Any]) -> None:
        """Nothing; result.json then holds `result` under "facts", with its hash."""
        write_sealed(self.path / RESULT, result, kind="result", limit=RESULT_LIMIT)

    def read_result(self) -> dict[str, Any] | None:
        """The result, or None while there is none."""
        if not os.path.lexists(self.path / RESULT):
            return None
        facts = read_sealed(self.path / RESULT, kind="result", limit=RESULT_LIMIT)["facts"]
        return plain(decode(facts, Result, self.path / RESULT))

    def clear(self) -> None:
        """Nothing; every file that nbyt wrote is then gone, except the marker."""
        self.clear_checkpoint()
        for name in (RESULT, METRICS):
            remove_file(self.path / name)
        for stage in self.stages():
            remove_pair(stage, "stage")


def load_stage(path: Path) -> tuple[Tensors, Facts]:
    """The tensors and facts of a stage, given its folder or one of its two files.

    A stage that is a link is refused: in a run that somebody sent us, it may lead anywhere.
    """
    path = Path(path)
    folder = path.parent if path.name in ("stage.json", "stage.safetensors") else path
    folder = resolved_entry(folder, "stage")
    if not os.path.isdir(folder):
        raise StoreError(
            f"{folder} is not a stage folder",
            where=str(folder),
            fix="give the folder of one stage, such as runs/cartpole/stage-3",
        )
    stages = RunFolder(folder).stages()
    if stages and not os.path.lexists(folder / "stage.json"):
        raise StoreError(
            f"{folder} is a training, and not one of its stages: {_named(stages)}",
            where=str(folder),
            fix=f"give a stage: `nbyt probe {stages[-1]}`, or `--from {stages[-1]}`",
        )
    tensors, facts = read_bundle(folder, "stage", kind="stage")
    return tensors, plain(decode(facts, StageFacts, folder / "stage.json"))


def _named(stages: list[Path]) -> str:
    names = [stage.name for stage in stages]
    if len(names) > _MOST_NAMED:
        return f"{names[0]} to {names[-1]}, {len(names)} of them"
    return ", ".join(names)


def remove_pair(folder: Path, name: str) -> None:
    """Remove the folder of a pair `name`.json and `name`.safetensors, or a link in its place."""
    if folder.is_symlink():
        remove_file(folder)
    elif folder.is_dir():  # else it is not ours: we write pairs as folders
        for file in (f"{name}.json", f"{name}.safetensors"):
            remove_file(folder / file)
        remove_if_empty(folder)


def clear_inner(folder: RunFolder) -> None:
    """Clear a run that is part of another folder, and its marker; of a link, only the link goes."""
    if folder.path.is_symlink():
        remove_file(folder.path)
    elif os.path.lexists(folder.path / MARKER):
        folder.clear()
        remove_file(folder.path / MARKER)
