"""The folder of a sweep: a file for every cell that was trained or failed, the table, the page."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.advice import Costs
from nbyt.results.sweep import CellCurve, Failure, Sweep
from nbyt.results.values import Record
from nbyt.store.advice import AdviceFolder
from nbyt.store.atomic import write_text
from nbyt.store.folder import RunFolder, clear_inner
from nbyt.store.manifest import tidy
from nbyt.store.paths import remove_file
from nbyt.store.seal import read_sealed, write_sealed

SWEEP = "sweep.json"
TABLE = "table.csv"
TIMES = "times.json"
PAGE = "report.html"
SWEEP_LIMIT = 64 << 20
_KINDS: dict[str, type[Record]] = {
    "sweep": Sweep,
    "times": Costs,
    "cell": CellCurve,
    "failed": Failure,
}
Kind = TypeVar("Kind", bound=Record)
_CELL = re.compile(r"(cell|failed)-[0-9]+x[0-9]+-seed-[0-9]+\.json")


@dataclass(frozen=True)
class SweepFolder(RunFolder):
    """A sweep under way or complete.

    A cell's file has the cell's name and holds nothing but what its settings and seed decide, so
    whoever writes it writes the same bytes.
    """

    def save_cell(self, name: str, facts: dict[str, Any]) -> None:
        """Nothing; what a cell found is then on disk, whole, and no failure of it is."""
        write_sealed(self._path("cell", name), facts, kind="cell")
        remove_file(self._path("failed", name))

    def load_cell(self, name: str) -> CellCurve | None:
        """What a cell found; None if it is still to be trained, or if its file is damaged."""
        return self._load("cell", name, CellCurve)

    def save_failure(self, name: str, facts: dict[str, Any]) -> None:
        """Keep why a cell failed, in an env's own words, which may hold addresses."""
        write_sealed(self._path("failed", name), tidy(facts), kind="failed")

    def load_failure(self, name: str) -> Failure | None:
        """Why a cell failed, or None."""
        return self._load("failed", name, Failure)

    def save_times(self, facts: dict[str, Any]) -> None:
        """Nothing; what an update costs at each layout is then on disk."""
        write_sealed(self.path / TIMES, facts, kind="times")

    def load_times(self) -> Costs | None:
        """What an update costs at each layout, or None if that was not timed."""
        path = self.path / TIMES
        return _read(path, "times", Costs) if os.path.lexists(path) else None

    @property
    def advice(self) -> Path:
        """The folder of the advice that stands beside the sweep."""
        return self.path / "advice"

    def write_table(self, text: str) -> Path:
        """Where the table is; it then holds this text."""
        write_text(self.path / TABLE, text)
        return self.path / TABLE

    def write_sweep(self, data: dict[str, Any]) -> None:
        """Nothing; sweep.json then holds everything that the page shows."""
        write_sealed(self.path / SWEEP, data, kind="sweep", limit=SWEEP_LIMIT)

    def checks(self) -> list[Callable[[], object]]:
        """What reads each part that is there, and raises a StoreError where it is bad."""
        kinds = {path: path.name.partition("-")[0] for path in self._cells()}
        for name, kind in ((SWEEP, "sweep"), (TIMES, "times")):
            if os.path.lexists(self.path / name):
                kinds[self.path / name] = kind
        return [partial(_read, path, kind, _KINDS[kind]) for path, kind in kinds.items()]

    def clear(self) -> None:
        """Nothing; every file that nbyt wrote is then gone, except the marker."""
        super().clear()
        for name in (SWEEP, TABLE, TIMES, PAGE):
            remove_file(self.path / name)
        for path in self._cells():
            remove_file(path)
        clear_inner(AdviceFolder(self.advice))

    def _cells(self) -> list[Path]:
        return sorted(one for one in self.path.iterdir() if _CELL.fullmatch(one.name))

    def _path(self, kind: str, name: str) -> Path:
        return self.path / f"{kind}-{name}.json"

    def _load(self, kind: str, name: str, record: type[Kind]) -> Kind | None:
        path = self._path(kind, name)
        if not os.path.lexists(path):
            return None
        try:
            return _read(path, kind, record)
        except StoreError:
            return None  # damaged: the cell is trained again, which gives the same bytes


def holds_sweep(folder: Path) -> bool:
    """Whether a sweep that came to its end is in that folder."""
    return os.path.lexists(Path(folder) / SWEEP)


def read_sweep(folder: Path) -> dict[str, Any]:
    """The data of the sweep in a folder, or a StoreError that says what is wrong with it."""
    if not holds_sweep(folder):
        raise StoreError(
            f"{folder} holds no finished sweep",
            where=str(folder),
            fix="give the folder that `nbyt sweep` wrote; one that was stopped is finished by the "
            "same command",
        )
    return plain(_read(Path(folder) / SWEEP, "sweep", Sweep))


def _read(path: Path, kind: str, record: type[Kind]) -> Kind:
    return decode(read_sealed(path, kind=kind, limit=SWEEP_LIMIT)["facts"], record, path)
